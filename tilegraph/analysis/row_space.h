// Rows: what reductions without reuse, and the maps around them, have in
// common. Softmax, norms and plain reductions read each element of their input
// for one row only, so one kernel can take a row through all of them while it
// is in the cache.
#ifndef TILEWRIGHT_TILEGRAPH_ANALYSIS_ROW_SPACE_H_
#define TILEWRIGHT_TILEGRAPH_ANALYSIS_ROW_SPACE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// A reduction that takes each element of some tensor that is no constant once:
// one of its loads has all axes above 1, spatial and reduce, as plain indices.
// Unlike products, which take an element again and again, and windows. All its
// loads have plain indices.
bool IsRowReduction(const TensorGraph& graph, TensorId id);

// Every index of every load in the compute is an axis or a constant, the axes
// of one load in ascending order: nothing is transposed.
bool ReadsPlainly(const TensorGraph& graph, TensorId id);

// The axes along which all members are independent, row by row.
struct RowSpace {
  std::vector<int64_t> extents;  // all above 1; none: there is one row
  // By member, then by row axis: the spatial axis of the member.
  std::map<TensorId, std::vector<int>> axes;
};

// The rows of the first reduction among `members` (ascending), if all members
// keep to them: the reductions are row reductions over everything else, and
// members read members only from the row they compute. nullopt otherwise.
std::optional<RowSpace> FindRows(const TensorGraph& graph,
                                 absl::Span<const TensorId> members);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_ANALYSIS_ROW_SPACE_H_
