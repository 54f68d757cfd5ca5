#include "sketch/rules/shared/output_tiles.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"

namespace tilewright::sketch {

int64_t OutputTiles::TilesLeft(int axis) const {
  return CeilDiv(shape[axis], axes[axis].per_task());
}

int64_t OutputTiles::TaskExtent(int axis) const {
  return std::min(axes[axis].per_task(), shape[axis]);
}

int64_t OutputTiles::Tasks() const {
  int64_t tasks = 1;
  for (size_t i = 0; i < shape.size(); ++i)
    tasks *= TilesLeft(static_cast<int>(i));
  return tasks;
}

std::vector<int> OutputTiles::StepOrder() const {
  if (!step_order.empty()) return step_order;
  std::vector<int> order = {vector_axis, outer_row_axis, row_axis};
  if (vectors_inside)
    std::rotate(order.begin(), order.begin() + 1, order.end());
  order.erase(std::remove(order.begin(), order.end(), -1), order.end());
  return order;
}

Contiguous FindContiguous(const Workload& workload, TensorId tensor) {
  const Layout layout = workload.LayoutOf(tensor);
  for (auto digit = layout.digits().rbegin(); digit != layout.digits().rend();
       ++digit) {
    if (digit->extent > 1) return {digit->dim, digit->extent};
  }
  return {static_cast<int>(layout.shape().size()) - 1, 1};
}

int64_t LaneBytes(const TensorGraph& graph) {
  int64_t bytes = 1;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kConstant) continue;
    bytes = std::max(bytes, SizeBytes(tensor.dtype));
    if (tensor.kind == TensorKind::kCompute && tensor.compute.combiner)
      bytes = std::max(bytes,
                       SizeBytes(tensor.compute.combiner->component_dtype(0)));
  }
  return bytes;
}

int64_t Lanes(const TensorGraph& graph, const DeviceSpec& spec) {
  return std::max<int64_t>(1, spec.unit().vector_bytes() / LaneBytes(graph));
}

OutputTiles StartTiles(const Workload& workload, TensorId output) {
  OutputTiles tiles;
  tiles.shape = workload.graph.tensor(output).static_shape();
  tiles.axes.assign(tiles.shape.size(), {});
  SetVectorAxis(tiles, FindContiguous(workload, output).dim);
  return tiles;
}

void SetVectorAxis(OutputTiles& tiles, int axis) {
  tiles.vector_axis = axis;
  tiles.row_axis = tiles.outer_row_axis = -1;
  for (int i = static_cast<int>(tiles.shape.size()) - 1; i >= 0; --i) {
    if (i == tiles.vector_axis || tiles.shape[i] == 1) continue;
    if (tiles.row_axis < 0) {
      tiles.row_axis = i;
    } else if (tiles.outer_row_axis < 0) {
      tiles.outer_row_axis = i;
    }
  }
}

VectorUnit UnitOf(const Workload& workload, TensorId output, int64_t lanes) {
  const Contiguous contiguous = FindContiguous(workload, output);
  const int64_t extent =
      workload.graph.tensor(output).static_shape()[contiguous.dim];
  if (contiguous.extent < extent) return {contiguous.extent, true};
  return {std::min(lanes, extent), false};
}

void SetVectors(OutputTiles& tiles, const VectorUnit& unit, int64_t vectors) {
  AxisTile& axis = tiles.axes[tiles.vector_axis];
  axis.vectors = unit.blocked ? vectors : 1;
  axis.tile = unit.blocked ? unit.elements
                           : std::min(vectors * unit.elements,
                                      tiles.shape[tiles.vector_axis]);
}

TaskBudget BudgetOf(const OutputTiles& tiles, const DeviceSpec& spec,
                    int64_t operations) {
  int64_t count = 1;
  for (size_t i = 0; i < tiles.shape.size(); ++i) {
    count *= tiles.TilesLeft(static_cast<int>(i));
    operations *= tiles.axes[i].per_task();
  }
  const int64_t cores = std::max<int64_t>(1, spec.unit().cores());
  return {std::max<int64_t>(
              1, kOperationsPerTask / std::max<int64_t>(1, operations)),
          std::max<int64_t>(1, count / (kTasksPerCore * cores))};
}

void TakeSteps(OutputTiles& tiles, int axis, TaskBudget& budget) {
  const int64_t left = tiles.TilesLeft(axis);
  const int64_t most = std::min({left, std::max<int64_t>(1, budget.wanted),
                                 std::max<int64_t>(1, budget.most)});
  // As many tasks as that needs, all of one size.
  const int64_t steps = CeilDiv(left, CeilDiv(left, most));
  tiles.axes[axis].steps = steps;
  budget.wanted /= steps;
  budget.most /= steps;
}

Handle WriteTasks(ScheduleWriter& writer, const OutputTiles& tiles,
                  Handle last) {
  std::vector<Factors> tasks;
  for (size_t i = 0; i < tiles.shape.size(); ++i) {
    const int64_t extent = tiles.TaskExtent(static_cast<int>(i));
    tasks.push_back(Factors{CeilDiv(tiles.shape[i], extent), extent});
  }
  const std::vector<Handle> loops = writer.GroupTile({last}, tasks);
  std::vector<int> ordered = tiles.task_order;
  std::sort(ordered.begin(), ordered.end());
  if (ordered == tiles.task_order) return loops.back();
  // Those of one task stay where they are.
  std::vector<Handle> order;
  for (const int axis : tiles.task_order) order.push_back(loops[axis]);
  writer.Reorder(order);
  return tasks.back()[0] > 1 ? order.back() : loops.back();
}

void TakeWhole(OutputTiles& tiles) {
  for (size_t i = 0; i < tiles.shape.size(); ++i) {
    const int axis = static_cast<int>(i);
    if (axis == tiles.vector_axis || axis == tiles.row_axis ||
        axis == tiles.outer_row_axis) {
      tiles.axes[i].steps = tiles.TilesLeft(axis);
    } else {
      tiles.axes[i].tile = tiles.shape[i];
    }
  }
}

Nest CutSpatial(ScheduleWriter& writer, const OutputTiles& tiles, Handle block,
                absl::Span<const Axis> names, bool whole_task) {
  const size_t rank = tiles.shape.size();
  std::vector<Handle> step(rank, -1), inner(rank, -1), vectors(rank, -1);
  for (size_t i = 0; i < rank; ++i) {
    const AxisTile& axis = tiles.axes[i];
    Handle loop = writer.Loop(block, names[i].name);
    int64_t left = tiles.TaskExtent(static_cast<int>(i));
    // The padded result behind it may have less left than the padding's tile.
    if (!whole_task) {
      left =
          std::min({left, axis.vectors * axis.tile, names[i].extent.value()});
    }
    const auto split = [&](int64_t extent) {
      const std::vector<Handle> parts =
          writer.Split(loop, Factors{CeilDiv(left, extent), extent});
      left = extent;
      loop = parts[1];
      return parts[0];
    };
    if (whole_task && axis.steps > 1) step[i] = split(axis.vectors * axis.tile);
    if (axis.vectors > 1) vectors[i] = split(axis.tile);
    inner[i] = loop;
  }
  Nest nest;
  const auto add = [](std::vector<Handle>& to, Handle loop) {
    if (loop >= 0) to.push_back(loop);
  };
  for (size_t i = 0; i < rank; ++i) {
    const int axis = static_cast<int>(i);
    if (axis != tiles.vector_axis && axis != tiles.row_axis &&
        axis != tiles.outer_row_axis)
      nest.steps.push_back(inner[i]);
  }
  for (const int axis : tiles.StepOrder()) add(nest.steps, step[axis]);
  if (tiles.outer_row_axis >= 0) add(nest.tile, inner[tiles.outer_row_axis]);
  add(nest.tile, vectors[tiles.vector_axis]);
  if (tiles.row_axis >= 0) add(nest.tile, inner[tiles.row_axis]);
  add(nest.tile, inner[tiles.vector_axis]);
  return nest;
}

void Arrange(ScheduleWriter& writer, const std::vector<Handle>& order,
             Handle first_of_tile) {
  if (order.size() > 1) writer.Reorder(order);
  writer.Annotate(first_of_tile, "tile");
}

Nest TileMap(ScheduleWriter& writer, const OutputTiles& tiles, Handle block,
             absl::Span<const Axis> names, bool whole_task) {
  const Nest nest = CutSpatial(writer, tiles, block, names, whole_task);
  std::vector<Handle> order = nest.steps;
  order.insert(order.end(), nest.tile.begin(), nest.tile.end());
  Arrange(writer, order, nest.tile.front());
  return nest;
}

}  // namespace tilewright::sketch
