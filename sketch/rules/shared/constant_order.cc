#include "sketch/rules/shared/constant_order.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "sketch/rules/shared/group_chain.h"
#include "sketch/rules/shared/output_tiles.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {
namespace {

// The dimension of a constant whose index is `axis` itself; nullopt if it moves
// with none, or some index is no axis.
std::optional<int> DimensionAlong(const Expr& load, int axis) {
  std::optional<int> dim;
  for (size_t d = 0; d < load.operands().size(); ++d) {
    const Expr& index = load.operand(static_cast<int>(d));
    if (index.op() == Op::kConst) continue;
    if (index.op() != Op::kVar) return std::nullopt;
    if (index.var_id() == axis) dim = static_cast<int>(d);
  }
  return dim;
}

// Whether no dimension behind `dim` has neighbours.
bool IsInnermost(const std::vector<int64_t>& shape, int dim) {
  return std::all_of(shape.begin() + dim + 1, shape.end(),
                     [](int64_t extent) { return extent == 1; });
}

// What the terms of reductions read is packed by their generators.
std::set<TensorId> ReadByReductions(const TensorGraph& graph) {
  std::set<TensorId> read;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute || !tensor.compute.combiner)
      continue;
    ForEachLoad(InlinedBody(graph, tensor.id),
                [&](const Expr& load) { read.insert(load.source()); });
  }
  return read;
}

}  // namespace

void LayConstantsAsResults(const Workload& workload, ScheduleWriter& writer) {
  const TensorGraph& graph = workload.graph;
  const TensorId output = graph.outputs()[0];
  if (graph.tensor(output).compute.combiner ||
      graph.tensor(output).shape.empty())
    return;
  const Contiguous results = FindContiguous(workload, output);
  std::set<TensorId> done = ReadByReductions(graph);
  ForEachLoad(InlinedBody(graph, output), [&](const Expr& load) {
    const Tensor& constant = graph.tensor(load.source());
    if (constant.kind != TensorKind::kConstant ||
        !done.insert(constant.id).second)
      return;
    const std::optional<int> dim = DimensionAlong(load, results.dim);
    const std::vector<int64_t> shape = constant.static_shape();
    if (!dim || shape[*dim] == 1 || IsInnermost(shape, *dim)) return;
    writer.SetLayout(
        constant.name,
        Layout::BlockedLast(shape, *dim, std::min(shape[*dim], results.extent))
            .ToString());
  });
}

}  // namespace tilewright::sketch
