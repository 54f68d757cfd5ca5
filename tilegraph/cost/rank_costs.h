// The order of tiles by their costs.
#ifndef TILEWRIGHT_TILEGRAPH_COST_RANK_COSTS_H_
#define TILEWRIGHT_TILEGRAPH_COST_RANK_COSTS_H_

#include <cstddef>
#include <vector>

#include "tilegraph/cost/group_cost_model.h"
#include "tilegraph/cost/search_tiles.h"

namespace tilewright {

// Tiles that fit before those that do not; less time, or less scratch, first.
TileRank Rank(const GroupCost& cost);

// The best `count` of `few` and then of `others`, the best first. One that does
// not fit is among them only if all do not. Of a fused group's tiles whose
// times are too close to tell apart the one that moves less is better.
// REQUIRES: `few` is not empty.
std::vector<GroupCost> BestOf(std::vector<GroupCost> few,
                              std::vector<GroupCost> others, bool fused,
                              size_t count);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_COST_RANK_COSTS_H_
