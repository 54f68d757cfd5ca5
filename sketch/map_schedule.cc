#include "sketch/map_schedule.h"

#include <algorithm>
#include <utility>

#include "sketch/output_tiles.h"

namespace tilewright::sketch {
namespace {

// Vectors of one tile: independent work for the units, without long code.
constexpr int64_t kVectors = 4;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

Schedule MapSchedule(const Workload& workload, const DeviceSpec& spec,
                     const Chain& chain) {
  const TensorGraph& graph = workload.graph;
  const Tensor& output = graph.tensor(chain.output);
  ScheduleWriter writer;
  for (const std::string& block : chain.inlined)
    writer.ComputeInline(writer.Block(block));
  const Handle last = writer.Block(chain.last);
  if (output.shape.empty()) return std::move(writer).Finish();

  OutputTiles tiles = StartTiles(workload, chain.output);
  const int64_t lanes = Lanes(graph, spec);
  const VectorUnit unit = UnitOf(workload, chain.output, lanes);
  const int64_t registers_per_unit = CeilDiv(unit.elements, lanes);
  SetVectors(tiles, unit,
             std::min(CeilDiv(tiles.shape[tiles.vector_axis], unit.elements),
                      std::max<int64_t>(1, kVectors / registers_per_unit)));
  TaskBudget budget = BudgetOf(tiles, spec, 2);
  for (const int axis :
       {tiles.row_axis, tiles.outer_row_axis, tiles.vector_axis}) {
    if (axis >= 0) TakeSteps(tiles, axis, budget);
  }
  WriteTasks(writer, tiles, last);
  TileMap(writer, tiles, last, output.compute.axes, true);
  return std::move(writer).Finish();
}

}  // namespace tilewright::sketch
