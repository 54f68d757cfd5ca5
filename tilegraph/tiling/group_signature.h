// What the price of a group depends on, and nothing else: equal texts, equal
// prices, for equal specs.
#ifndef TILEWRIGHT_TILEGRAPH_TILING_GROUP_SIGNATURE_H_
#define TILEWRIGHT_TILEGRAPH_TILING_GROUP_SIGNATURE_H_

#include <functional>
#include <string>

#include "tilegraph/plan.h"
#include "tilegraph/tensor_graph.h"
#include "tilegraph/tiling/tensor_homes.h"

namespace tilewright {

// What a compute makes of its sources, which `source` names.
std::string ComputeSignature(const Compute& compute,
                             const std::function<std::string(int)>& source);

// Without names and numbers of the model: groups of equal shape are equal.
std::string GroupSignature(const TensorGraph& graph, const TensorHomes& homes,
                           const Group& group);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_GROUP_SIGNATURE_H_
