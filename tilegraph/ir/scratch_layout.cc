#include "tilegraph/ir/scratch_layout.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "base/ceil_div.h"
#include "base/check.h"
#include "base/memory_units.h"

namespace tilewright {
namespace {

// Runs that lie so far apart share few sets of a first-level cache.
constexpr int64_t kConflictBytes = 2048;

std::vector<Layout::Digit> DigitsOfBox(const Layout& whole,
                                       const std::vector<int64_t>& extents) {
  std::vector<Layout::Digit> digits;
  for (const Layout::Digit& digit : whole.digits()) {
    digits.push_back(
        {digit.dim, digit.div,
         std::min(digit.extent, CeilDiv(extents[digit.dim], digit.div))});
  }
  return digits;
}

Layout FromDigits(const std::vector<int64_t>& extents,
                  std::vector<Layout::Digit> digits) {
  const std::vector<int64_t> none(extents.size(), 0);
  absl::StatusOr<Layout> layout = Layout::Create(
      extents, none, none, std::move(digits), Layout::Fill::kUndefined);
  TW_CHECK(layout.ok()) << layout.status();
  return *std::move(layout);
}

// The padded length of an innermost run of `run` elements.
int64_t PaddedRun(int64_t run, int64_t element_bytes) {
  const int64_t line = std::max<int64_t>(1, kLineBytes / element_bytes);
  if (run < line) return run;
  run = CeilDiv(run, line) * line;
  return run * element_bytes % kConflictBytes == 0 ? run + line : run;
}

}  // namespace

Layout LayoutOfBox(const Layout& whole, const std::vector<int64_t>& extents) {
  return FromDigits(extents, DigitsOfBox(whole, extents));
}

Layout LayoutInScratch(const Layout& whole, const std::vector<int64_t>& extents,
                       int64_t element_bytes) {
  std::vector<Layout::Digit> digits = DigitsOfBox(whole, extents);
  // Blocks of channels are such runs; else what lies innermost is one, and the
  // only digit of its dimension.
  const auto run =
      std::find_if(digits.rbegin(), digits.rend(),
                   [](const Layout::Digit& digit) { return digit.extent > 1; });
  if (run != digits.rend() && run->extent == extents[run->dim])
    run->extent = PaddedRun(run->extent, element_bytes);
  return FromDigits(extents, std::move(digits));
}

int64_t ScratchBytes(const Layout* whole, const std::vector<int64_t>& extents,
                     int64_t element_bytes) {
  if (whole != nullptr)
    return LayoutInScratch(*whole, extents, element_bytes).physical_elements() *
           element_bytes;
  int64_t bytes = element_bytes;
  bool is_run = true;
  for (size_t d = extents.size(); d-- > 0;) {
    bytes *= is_run ? PaddedRun(extents[d], element_bytes) : extents[d];
    if (extents[d] > 1) is_run = false;
  }
  return bytes;
}

}  // namespace tilewright
