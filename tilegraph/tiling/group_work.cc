#include "tilegraph/tiling/group_work.h"

#include <algorithm>
#include <cmath>

#include "tilegraph/access.h"
#include "tilegraph/dtype.h"
#include "tilegraph/families.h"
#include "tilegraph/operations.h"

namespace tilewright {
namespace {

// Of maps beside a product or a window in the same stage, over those on their
// own: their loads and stores are there anyway, and chains of them overlap.
constexpr double kMapsBeside = 0.45;

int ReadersOf(const TensorGraph& graph, const Group& group, TensorId tensor) {
  int readers = 0;
  for (const TensorId member : group.members) {
    const std::vector<TensorId> inputs = graph.Inputs(member);
    readers +=
        static_cast<int>(std::count(inputs.begin(), inputs.end(), tensor));
  }
  return readers;
}

// What a tile computes of `operand`, `elements` in the mean: of its region, not
// what the tile before has left there.
std::vector<int64_t> ExtentsPerTile(const TileOperand& operand, int vector_dim,
                                    double elements) {
  std::vector<int64_t> extents = operand.extents;
  double region = 1;
  int longest = -1;
  for (size_t d = 0; d < extents.size(); ++d) {
    region *= static_cast<double>(extents[d]);
    if (static_cast<int>(d) != vector_dim &&
        (longest < 0 || extents[d] > extents[longest]))
      longest = static_cast<int>(d);
  }
  if (longest >= 0 && elements < region)
    extents[longest] = std::max<int64_t>(
        1, std::llround(static_cast<double>(extents[longest]) * elements /
                        region));
  return extents;
}

// Whether steps of a task share what they need of it: its region grows along
// one dimension, in which lanes do not lie.
bool Rolls(const TileOperand& tile, const TileOperand& task, int vector_dim) {
  int growing = 0;
  for (size_t d = 0; d < tile.extents.size(); ++d) {
    if (task.extents[d] <= tile.extents[d]) continue;
    if (static_cast<int>(d) == vector_dim) return false;
    ++growing;
  }
  return growing == 1;
}

}  // namespace

GroupWork::GroupWork(const TensorGraph& graph, const Group& group,
                     const TensorHomes& homes, const DeviceSpec& spec)
    : lanes_(static_cast<double>(
          std::max<int64_t>(1, spec.unit().vector_bytes() / 4))),
      stage_outputs_({group.output}) {
  for (const TensorId id : group.members) {
    const Tensor& tensor = graph.tensor(id);
    Member& member = members_[id];
    for (const Axis& axis : tensor.compute.reduce_axes)
      member.points *= static_cast<double>(axis.extent.value());
    member.flops = static_cast<double>(OperationsPerPoint(tensor.compute));
    // Paddings only move elements, whatever they compare on the way.
    member.operations =
        AsZeroPadding(graph, id) ? 1 : WeightedOperations(tensor.compute);
    member.elements = static_cast<double>(tensor.num_elements());
    member.element_bytes = static_cast<double>(SizeBytes(tensor.dtype));
    member.vector_dim = homes.VectorDim(id);
    member.rate = RateOf(graph, id, spec);
    member.row_axes = RowAxes(tensor.compute, member.vector_dim);
    const Layout* const layout = homes.LayoutOf(id);
    member.merges = (layout == nullptr || layout->is_row_major()) &&
                    !SlidesWindow(tensor.compute);
    member.shape = tensor.static_shape();
    if (id != group.output) in_registers_.insert(id);
  }
  if (group.stages.empty()) {
    SpeedUpMapsBeside();
    return;
  }
  stage_outputs_.clear();
  for (const Stage& stage : group.stages) {
    const TensorId output = stage.members.back();
    for (const TensorId id : stage.members)
      members_[id].stage = stage_outputs_.size();
    stage_outputs_.push_back(output);
    if (output != group.output) kept_.insert(output);
  }
  // A padding is written together with what it surrounds.
  for (const TensorId id : group.members) {
    const auto zeros = AsZeroPadding(graph, id);
    if (zeros && ReadersOf(graph, group, zeros->source) == 1)
      kept_.erase(zeros->source);
  }
  for (const TensorId id : kept_) in_registers_.erase(id);
  SpeedUpMapsBeside();
}

void GroupWork::SpeedUpMapsBeside() {
  std::set<size_t> hiding;  // stages
  for (const auto& [id, member] : members_) {
    if (member.rate.hides_maps) hiding.insert(member.stage);
  }
  for (auto& [id, member] : members_) {
    if (member.rate.is_map && hiding.count(member.stage))
      member.rate.ops_per_s /= kMapsBeside;
  }
}

GroupWork::Cost GroupWork::Of(const TileWork& tile,
                              const TileWork& task) const {
  std::map<TensorId, std::pair<const TileOperand*, const TileOperand*>> of;
  for (size_t i = 0; i < tile.inside.size(); ++i)
    of[tile.inside[i].tensor] = {&tile.inside[i], &task.inside[i]};
  for (size_t i = 0; i < tile.outputs.size(); ++i)
    of[tile.outputs[i].tensor] = {&tile.outputs[i], &task.outputs[i]};
  Cost cost;
  cost.stage_seconds.assign(stage_outputs_.size(), 0);
  std::vector<bool> rolls;  // by stage
  for (const TensorId output : stage_outputs_) {
    const auto& [by_tile, by_task] = of.at(output);
    rolls.push_back(Rolls(*by_tile, *by_task, members_.at(output).vector_dim));
  }
  double once = 0;
  const double tiles = static_cast<double>(tile.tiles);
  for (const auto& [id, member] : members_) {
    const auto& [by_tile, by_task] = of.at(id);
    const double elements =
        (rolls[member.stage] ? by_task : by_tile)->total_bytes /
        member.element_bytes;
    const double computed = member.points * elements;
    cost.flops += computed * member.flops;
    once += member.points * member.elements * member.flops;
    cost.stage_seconds[member.stage] +=
        computed * member.operations /
        OpsPerSecond(member, ExtentsPerTile(*by_tile, member.vector_dim,
                                            elements / tiles));
  }
  if (once > 0) cost.recompute = cost.flops / once;
  return cost;
}

double GroupWork::OpsPerSecond(const Member& member,
                               const std::vector<int64_t>& extents) const {
  double run = 1, rows = 1;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (static_cast<int>(d) == member.vector_dim) {
      run = static_cast<double>(extents[d]);
    } else if (member.row_axes[d]) {
      rows *= static_cast<double>(extents[d]);
    }
  }
  // Where dimensions lie one after the other, vectors run on.
  for (int d = member.vector_dim; member.merges && d > 0; --d) {
    if (extents[d] < member.shape[d] || member.row_axes[d - 1]) break;
    run *= static_cast<double>(extents[d - 1]);
  }
  const double filled =
      member.rate.along_output ? run / (std::ceil(run / lanes_) * lanes_) : 1;
  // Register tiles want several rows.
  return member.rate.ops_per_s * filled * rows * rows /
         (rows * rows + member.rate.rows_wanted);
}

}  // namespace tilewright
