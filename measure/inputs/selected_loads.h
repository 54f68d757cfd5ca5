// Internal to what plants values: where reductions that select one of many
// values read them from the inputs.
#ifndef TILEWRIGHT_MEASURE_INPUTS_SELECTED_LOADS_H_
#define TILEWRIGHT_MEASURE_INPUTS_SELECTED_LOADS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::measure {

// 1 if the largest wins, -1 if the smallest does, 0 if nothing is selected.
int Direction(const Compute& compute);
// Loads of inputs among which `tensor` selects.
std::vector<Expr> SelectedLoads(const TensorGraph& graph, const Tensor& tensor);

// Calls `fn` with the axes of every output in row-major order, those of the
// reduction after them.
void ForEachOutput(const Compute& compute,
                   const std::function<void(std::vector<int64_t>& axes)>& fn);
// Sets the reduce axes to step number `step`.
void SetStep(const Compute& compute, int64_t step, std::vector<int64_t>& axes);
// Where `load` reads at these axes, row-major in its source of this shape; -1
// for padding and what depends on data.
int64_t PositionOf(const Expr& load, const std::vector<int64_t>& shape,
                   const std::vector<int64_t>& axes);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_INPUTS_SELECTED_LOADS_H_
