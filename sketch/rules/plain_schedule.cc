#include "sketch/rules/plain_schedule.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/ceil_div.h"
#include "sketch/rules/shared/output_tiles.h"
#include "sketch/trace/sums_apart.h"
#include "tilegraph/ir/operations.h"

namespace tilewright::sketch {
namespace {

// Names of the blocks that a graph's computes become, in order.
std::vector<std::string> BlockNames(const TensorGraph& graph) {
  std::vector<std::string> names;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute) continue;
    names.push_back(tensor.name);
    if (HasSumsApart(tensor)) names.push_back(CopyOutOf(tensor));
  }
  return names;
}

int64_t OperationsPerOutput(const TensorGraph& graph, const Tensor& output) {
  int64_t operations = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute) continue;
    int64_t points = tensor.num_elements();
    for (const Axis& axis : tensor.compute.reduce_axes)
      points *= axis.extent.value();
    operations += points * OperationsPerPoint(tensor.compute);
  }
  return operations / std::max<int64_t>(1, output.num_elements());
}

}  // namespace

absl::StatusOr<Schedule> TasksSchedule(const Workload& workload,
                                       const DeviceSpec& spec) {
  const TensorGraph& graph = workload.graph;
  if (graph.outputs().size() != 1)
    return absl::InvalidArgumentError("tasks are parts of a single output");
  const Tensor& output = graph.tensor(graph.outputs()[0]);
  if (output.shape.empty())
    return absl::InvalidArgumentError("a scalar has no parts");
  OutputTiles tiles = StartTiles(workload, output.id);
  AxisTile& vectors = tiles.axes[tiles.vector_axis];
  vectors.tile = tiles.shape[tiles.vector_axis];
  TaskBudget budget = BudgetOf(tiles, spec, OperationsPerOutput(graph, output));
  for (const int axis : {tiles.row_axis, tiles.outer_row_axis}) {
    if (axis >= 0) TakeSteps(tiles, axis, budget);
  }
  ScheduleWriter writer;
  std::vector<std::string> names = BlockNames(graph);
  const Handle last = writer.Block(names.back());
  names.pop_back();
  const Handle task = WriteTasks(writer, tiles, last);
  for (auto name = names.rbegin(); name != names.rend(); ++name)
    writer.ComputeAt(writer.Block(*name), task);
  if (output.compute.combiner) return std::move(writer).Finish();
  // Lanes innermost.
  const int64_t lanes = std::min(Lanes(graph, spec), vectors.tile);
  std::vector<Handle> order;
  for (size_t i = 0; i < output.compute.axes.size(); ++i) {
    if (static_cast<int>(i) != tiles.vector_axis)
      order.push_back(writer.Loop(last, output.compute.axes[i].name));
  }
  const std::vector<Handle> parts = writer.Split(
      writer.Loop(last, output.compute.axes[tiles.vector_axis].name),
      Factors{CeilDiv(vectors.tile, lanes), lanes});
  order.insert(order.end(), parts.begin(), parts.end());
  writer.Reorder(order);
  writer.Annotate(parts.back(), "tile");
  return std::move(writer).Finish();
}

Schedule PlainSchedule() { return Schedule(); }

}  // namespace tilewright::sketch
