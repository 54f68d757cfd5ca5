// How a convolution by Winograd (tilegraph/rewrite/winograd.h) keeps its
// transformed filters U [a, b, o, c] and its transformed input V
// [a, b, n, y, x, c]. Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_RULES_WINOGRAD_LAYOUTS_H_
#define TILEWRIGHT_SKETCH_RULES_WINOGRAD_LAYOUTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::sketch {

// Output channels of a register tile, and of the blocks whose products are
// there at a time: whole register tiles.
struct FilterPanels {
  int64_t panel, block;
};

// Decides "pack", how U of this shape lies: register tiles of channels side by
// side, all terms of one after the other; nullopt: as its dimensions say.
std::optional<Layout> DecideFilterLayout(Decider& decider,
                                         absl::Span<const int64_t> shape,
                                         const FilterPanels& panels);

// Decides "input.layout" for V of one task, whose shape this is: each position
// (a, b) is a plane of vectors of channels, tiles next to each other as
// register tiles read them; nullopt: as its dimensions say, which is all there
// is where channels are no whole vectors.
//
// A transform writes one vector into every plane. Planes are an odd number of
// cache lines apart, so that these vectors fall into different sets of a cache:
// at a multiple of a page, 36 of them took 9 times as long.
std::optional<Layout> DecideInputLayout(Decider& decider,
                                        absl::Span<const int64_t> shape,
                                        int64_t lanes, int64_t element_bytes);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_WINOGRAD_LAYOUTS_H_
