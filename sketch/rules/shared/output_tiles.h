// How the iterations over a group's output are cut: into tasks, steps inside a
// task, and the tile that one vector loop nest computes. Default schedules of
// every family choose such tiles and write the loops with these helpers.
#ifndef TILEWRIGHT_SKETCH_RULES_SHARED_OUTPUT_TILES_H_
#define TILEWRIGHT_SKETCH_RULES_SHARED_OUTPUT_TILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"

namespace tilewright::sketch {

// Work of one task: enough to hide its start, little enough to balance.
inline constexpr int64_t kOperationsPerTask = int64_t{2} << 20;
inline constexpr int64_t kTasksPerCore = 8;

// One axis: tasks, then steps, then the tile. The vector axis of a blocked
// layout has a two-part tile.
struct AxisTile {
  int64_t steps = 1;
  int64_t vectors = 1;  // blocks, for the vector axis of a blocked layout
  int64_t tile = 1;     // elements of the innermost part

  int64_t per_task() const { return steps * vectors * tile; }
};

struct OutputTiles {
  std::vector<int64_t> shape;
  std::vector<AxisTile> axes;  // by dimension
  int vector_axis = -1;
  int row_axis = -1;        // the innermost other axis above 1, if any
  int outer_row_axis = -1;  // the next one
  // Task loops, outermost first, of all axes that have several tasks; empty: in
  // the order of the axes.
  std::vector<int> task_order = {};
  // Steps along the vector axis innermost: memory is passed through as it lies.
  // Otherwise outermost: what the vector axis alone moves is used again.
  bool vectors_inside = false;
  // Axes with several steps, outermost first; empty: as that says.
  std::vector<int> step_order = {};

  // Tiles along `axis` that no task has taken yet.
  int64_t TilesLeft(int axis) const;
  int64_t Tasks() const;
  // Elements of `axis` in one task.
  int64_t TaskExtent(int axis) const;
  // The axes above that there are, as their steps nest, outermost first.
  std::vector<int> StepOrder() const;
};

// The dimension of `tensor` whose neighbours lie side by side, and how many of
// them do.
struct Contiguous {
  int dim;
  int64_t extent;
};
Contiguous FindContiguous(const Workload& workload, TensorId tensor);

// Bytes of the widest element that a lane holds.
int64_t LaneBytes(const TensorGraph& graph);

// Elements per vector register.
int64_t Lanes(const TensorGraph& graph, const DeviceSpec& spec);

// One-element tiles over `output`, its vector axis the contiguous one.
// REQUIRES: `output` has a dimension.
OutputTiles StartTiles(const Workload& workload, TensorId output);
// The innermost other axes above 1 become the row axes.
void SetVectorAxis(OutputTiles& tiles, int axis);

// Makes `vectors` units of the vector axis the tile: blocks of the layout where
// it is blocked, else vectors.
struct VectorUnit {
  int64_t elements;
  bool blocked;
};
VectorUnit UnitOf(const Workload& workload, TensorId output, int64_t lanes);
void SetVectors(OutputTiles& tiles, const VectorUnit& unit, int64_t vectors);

// How many steps the axes of a task may take together.
struct TaskBudget {
  int64_t wanted;  // from the work in one tile
  int64_t most;    // so that every core gets several tasks
};
// `operations`: of one element of the output.
TaskBudget BudgetOf(const OutputTiles& tiles, const DeviceSpec& spec,
                    int64_t operations);
// Gives `axis` as many steps as the budget allows, tasks of one size, and takes
// them from it.
void TakeSteps(OutputTiles& tiles, int axis, TaskBudget& budget);

// Writes the task loops around `last`, in their order; returns the innermost.
Handle WriteTasks(ScheduleWriter& writer, const OutputTiles& tiles,
                  Handle last);

// Makes all of the output one task: steps as many as there are tiles.
void TakeWhole(OutputTiles& tiles);

// The loops over the spatial axes of one block.
struct Nest {
  std::vector<Handle> steps;
  std::vector<Handle> tile;
};

// Cuts the loops of `block` over `names` (the output's axes, in order).
// `whole_task`: they cover a task, steps included; otherwise one tile.
Nest CutSpatial(ScheduleWriter& writer, const OutputTiles& tiles, Handle block,
                absl::Span<const Axis> names, bool whole_task);

// Puts loops in this order and makes the ones from `first_of_tile` on a tile.
void Arrange(ScheduleWriter& writer, const std::vector<Handle>& order,
             Handle first_of_tile);

// Cuts the loops of a map; steps around its tile.
Nest TileMap(ScheduleWriter& writer, const OutputTiles& tiles, Handle block,
             absl::Span<const Axis> names, bool whole_task);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_SHARED_OUTPUT_TILES_H_
