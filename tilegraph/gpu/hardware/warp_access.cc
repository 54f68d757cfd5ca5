#include "tilegraph/gpu/hardware/warp_access.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"

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

// Units of `unit_bytes` that lanes touch, each once, in order. Most accesses
// come in order already.
using Units = absl::InlinedVector<int64_t, 64>;

void AddUnits(int64_t offset, int64_t bytes, int64_t unit_bytes, Units& units) {
  const int64_t last = (offset + bytes - 1) / unit_bytes;
  for (int64_t unit = offset / unit_bytes; unit <= last; ++unit)
    if (units.empty() || units.back() != unit) units.push_back(unit);
}

void SortUnique(Units& units) {
  if (!std::is_sorted(units.begin(), units.end()))
    std::sort(units.begin(), units.end());
  units.erase(std::unique(units.begin(), units.end()), units.end());
}

}  // namespace

int64_t Sectors(const WarpAccess& access, int64_t sector_bytes) {
  Units sectors;
  for (const int64_t offset : access.offset_bytes)
    if (offset != WarpAccess::kIdle)
      AddUnits(offset, access.bytes, sector_bytes, sectors);
  SortUnique(sectors);
  return static_cast<int64_t>(sectors.size());
}

int64_t BankPasses(const WarpAccess& access, const Banks& banks) {
  int64_t passes = 0;
  absl::InlinedVector<int64_t, 64> of_bank;
  ForGroups(access, banks, [&](size_t first, size_t end) {
    Units words;
    for (size_t lane = first; lane < end; ++lane)
      if (access.offset_bytes[lane] != WarpAccess::kIdle)
        AddUnits(access.offset_bytes[lane], access.bytes, banks.width_bytes,
                 words);
    SortUnique(words);
    of_bank.assign(static_cast<size_t>(banks.count), 0);
    int64_t most = 0;
    for (const int64_t word : words)
      most = std::max(most, ++of_bank[static_cast<size_t>(word % banks.count)]);
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
