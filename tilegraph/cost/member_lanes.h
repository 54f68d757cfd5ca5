// Along which dimension of each member of a group the vectors of its kernel
// lie.
#ifndef TILEWRIGHT_TILEGRAPH_COST_MEMBER_LANES_H_
#define TILEWRIGHT_TILEGRAPH_COST_MEMBER_LANES_H_

#include <map>

#include "tilegraph/cost/tensor_levels.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

// The member that ends a stage has them where its neighbours in memory are. The
// other members of a stage are computed in registers, by vectors that lie along
// what its reader's move along: a dimension of the reader, or, of a sum along a
// row whose terms are neighbours in memory, the row. -1: its reader's vectors
// take one element of it.
std::map<TensorId, int> MemberLanes(const TensorGraph& graph,
                                    const Group& group,
                                    const TensorLevels& tensor_levels);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_COST_MEMBER_LANES_H_
