#include "sketch/fused/tile_plan_schedule.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"

namespace tilewright::sketch {
namespace {

// Steps outermost, then the tile, then what a step reduces.
void CutReduction(ScheduleWriter& writer, Handle block, const Compute& compute,
                  const std::vector<int64_t>& steps) {
  std::vector<Handle> outer, inner;
  for (size_t r = 0; r < compute.reduce_axes.size(); ++r) {
    const Axis& axis = compute.reduce_axes[r];
    const Handle loop = writer.Loop(block, axis.name);
    if (steps[r] >= axis.extent.value()) {
      inner.push_back(loop);
      continue;
    }
    const std::vector<Handle> parts = writer.Split(
        loop, Factors{CeilDiv(axis.extent.value(), steps[r]), steps[r]});
    outer.push_back(parts[0]);
    inner.push_back(parts[1]);
  }
  if (outer.empty()) return;
  for (const Axis& axis : compute.axes)
    outer.push_back(writer.Loop(block, axis.name));
  outer.insert(outer.end(), inner.begin(), inner.end());
  writer.Reorder(outer);
}

}  // namespace

Schedule TilePlanSchedule(const TensorGraph& graph, const Subgraph& part,
                          const LevelTiles& tiles) {
  ScheduleWriter writer;
  std::vector<Handle> outputs;
  for (const TensorId output : part.outputs)
    outputs.push_back(writer.Block(graph.tensor(output).name));
  const std::vector<int64_t> shape =
      graph.tensor(part.outputs.back()).static_shape();
  std::vector<Factors> tasks;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t extent = std::min(tiles.tile.spatial[d], shape[d]);
    tasks.push_back(Factors{CeilDiv(shape[d], extent), extent});
  }
  const std::vector<Handle> loops = writer.GroupTile(outputs, tasks);
  std::vector<Handle> ordered;
  for (const int d : tiles.order) ordered.push_back(loops[d]);
  if (ordered.size() > 1) writer.Reorder(ordered);
  for (auto member = part.members.rbegin(); member != part.members.rend();
       ++member) {
    const Tensor& tensor = graph.tensor(*member);
    const auto output =
        std::find(part.outputs.begin(), part.outputs.end(), *member);
    Handle block;
    if (output == part.outputs.end()) {
      block = writer.Block(tensor.name);
      writer.ComputeAt(block, ordered.back());
    } else {
      block = outputs[output - part.outputs.begin()];
    }
    const auto steps = tiles.tile.reduce.find(*member);
    if (steps != tiles.tile.reduce.end())
      CutReduction(writer, block, tensor.compute, steps->second);
  }
  return std::move(writer).Finish();
}

}  // namespace tilewright::sketch
