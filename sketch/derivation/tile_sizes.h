// Tile sizes as decisions: Ansor's structure of several levels per axis.
//
//   T.tile.m     the parts of an axis, outermost first
//   T.registers  vectors × rows of the innermost tile (style.fit_vectors)
//   T.sums       whether a tile's sums stay in registers over all steps, or
//                lie in scratch between blocks of them (style.fit_vectors)
#ifndef TILEWRIGHT_SKETCH_DERIVATION_TILE_SIZES_H_
#define TILEWRIGHT_SKETCH_DERIVATION_TILE_SIZES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "sketch/derivation/derivation.h"
#include "sketch/derivation/derivation_style.h"
#include "sketch/trace/schedule.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

// Innermost parts are at most so long (TVM's max_innermost_split_factor).
inline constexpr int64_t kMostInnermost = 64;

// Four levels of the spatial and two of the reduce axes.
TileSizes DecideTiles(Derivation& derivation, const TileProblem& problem);
// Two levels of the spatial axes; none of the reduce axes. Without tails parts
// divide extents, whatever the style: the block has no predicates of its own.
TileSizes DecideSimpleTiles(Derivation& derivation, const TileProblem& problem,
                            bool tails);

// The spatial axes, that along which elements lie side by side last: those of
// the output that they become, if they do.
std::vector<int> AxesInOrder(const Workload& workload,
                             const TileProblem& problem);

// Cuts an extent as `factors` say from the inside out; what is left is the
// first. REQUIRES: there is one.
Factors FitFactors(int64_t extent, const Factors& factors);

// The loops of `levels` (of parts, by axis) one level after the other, axes in
// `order`.
std::vector<Handle> LevelsOf(const LoopParts& parts,
                             const std::vector<int>& order, size_t first,
                             size_t last);
// All reduce axes in their order.
std::vector<Handle> LevelOf(const LoopParts& parts, size_t level);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_DERIVATION_TILE_SIZES_H_
