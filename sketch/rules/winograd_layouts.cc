#include "sketch/rules/winograd_layouts.h"

#include <utility>

#include "absl/status/statusor.h"
#include "base/ceil_div.h"
#include "base/check.h"
#include "base/memory_units.h"
#include "tilegraph/decision/space.h"

namespace tilewright::sketch {
namespace {

using Digit = Layout::Digit;

// Dimensions of V.
enum : int { kA, kB, kN, kY, kX, kChannel };

// The elements from one plane of V to the next.
int64_t PlaneStride(int64_t elements, int64_t element_bytes) {
  const int64_t lines = CeilDiv(elements * element_bytes, kLineBytes);
  return (lines | 1) * kLineBytes / element_bytes;
}

}  // namespace

std::optional<Layout> DecideFilterLayout(Decider& decider,
                                         absl::Span<const int64_t> shape,
                                         const FilterPanels& panels) {
  const auto [panel, block] = panels;
  const Digit a = {0, 1, shape[0]}, b = {1, 1, shape[1]}, c = {3, 1, shape[3]},
              lane = {2, 1, panel}, all = {2, panel, CeilDiv(shape[2], panel)};
  std::vector<Digit> digits;
  switch (decider.DecideNumber(
      "pack", Space::OneOf({"blocks", "positions", "panels", "plain"}),
      [] { return 0; })) {
    case 0:  // in the order in which tasks and loops read them
      digits = {{2, block, CeilDiv(shape[2], block)},
                a,
                b,
                {2, panel, block / panel},
                c,
                lane};
      break;
    case 1:
      digits = {a, b, all, c, lane};
      break;
    case 2:
      digits = {all, a, b, c, lane};
      break;
    default:
      return std::nullopt;
  }
  const std::vector<int64_t> none(shape.size(), 0);
  const absl::StatusOr<Layout> layout =
      Layout::Create({shape.begin(), shape.end()}, none, none,
                     std::move(digits), Layout::Fill::kUndefined);
  if (!layout.ok()) return std::nullopt;
  return *layout;
}

std::optional<Layout> DecideInputLayout(Decider& decider,
                                        absl::Span<const int64_t> shape,
                                        int64_t lanes, int64_t element_bytes) {
  if (shape[kChannel] % lanes != 0) return std::nullopt;
  if (decider.DecideNumber("input.layout", Space::OneOf({"blocks", "plain"}),
                           [] { return 0; }) != 0)
    return std::nullopt;
  const int64_t row = shape[kX] * lanes, rows = shape[kY] * row,
                image = shape[kChannel] / lanes * rows,
                plane = PlaneStride(shape[kN] * image, element_bytes);
  const std::vector<int64_t> none(shape.size(), 0);
  const absl::StatusOr<Layout> layout =
      Layout::Strided({shape.begin(), shape.end()}, none, none,
                      {{kA, 1, shape[kA]},
                       {kB, 1, shape[kB]},
                       {kN, 1, shape[kN]},
                       {kChannel, lanes, shape[kChannel] / lanes},
                       {kY, 1, shape[kY]},
                       {kX, 1, shape[kX]},
                       {kChannel, 1, lanes}},
                      {shape[kB] * plane, plane, image, rows, row, lanes, 1}, 0,
                      shape[kA] * shape[kB] * plane, Layout::Fill::kUndefined);
  TW_CHECK(layout.ok()) << layout.status();
  return *layout;
}

}  // namespace tilewright::sketch
