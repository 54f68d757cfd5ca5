#include "tilegraph/gpu/hardware/warp_access.h"

#include <algorithm>

namespace tilewright {
namespace {

// Calls `each` with the first and the end of every group of lanes that banks
// serve together.
template <typename Each>
void ForGroups(const WarpAccess& access, const Banks& banks, Each each) {
  const int64_t row_bytes = banks.count * banks.width_bytes;
  const auto lanes = static_cast<size_t>(
      std::min(banks.count, std::max<int64_t>(1, row_bytes / access.bytes)));
  for (size_t first = 0; first < access.offset_bytes.size(); first += lanes)
    each(first, std::min(first + lanes, access.offset_bytes.size()));
}

void SortUnique(std::vector<int64_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

int64_t Sectors(const WarpAccess& access, int64_t sector_bytes) {
  std::vector<int64_t> sectors;
  for (const int64_t offset : access.offset_bytes) {
    if (offset == WarpAccess::kIdle) continue;
    const int64_t last = (offset + access.bytes - 1) / sector_bytes;
    for (int64_t s = offset / sector_bytes; s <= last; ++s)
      sectors.push_back(s);
  }
  SortUnique(sectors);
  return static_cast<int64_t>(sectors.size());
}

int64_t BankPasses(const WarpAccess& access, const Banks& banks) {
  int64_t passes = 0;
  ForGroups(access, banks, [&](size_t first, size_t end) {
    std::vector<int64_t> words;
    for (size_t lane = first; lane < end; ++lane) {
      const int64_t offset = access.offset_bytes[lane];
      if (offset == WarpAccess::kIdle) continue;
      const int64_t last = (offset + access.bytes - 1) / banks.width_bytes;
      for (int64_t w = offset / banks.width_bytes; w <= last; ++w)
        words.push_back(w);
    }
    SortUnique(words);
    std::vector<int64_t> of_bank(banks.count, 0);
    int64_t most = 0;
    for (const int64_t word : words)
      most = std::max(most, ++of_bank[word % banks.count]);
    passes += most;
  });
  return passes;
}

int64_t LeastBankPasses(const WarpAccess& access, const Banks& banks) {
  int64_t passes = 0;
  ForGroups(access, banks, [&](size_t first, size_t end) {
    const auto begin = access.offset_bytes.begin();
    passes += std::any_of(begin + first, begin + end, [](int64_t offset) {
      return offset != WarpAccess::kIdle;
    });
  });
  return passes;
}

}  // namespace tilewright
