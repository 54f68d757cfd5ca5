#include "tilegraph/cost/group_traffic.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/status_macros.h"
#include "tilegraph/cost/core_levels.h"
#include "tilegraph/traffic/loop_orders.h"
#include "tilegraph/traffic/transactions.h"

namespace tilewright {
namespace {

TrafficOptions OptionsFor(const Subgraph& part, const Group& group,
                          const TensorLevels& tensor_levels,
                          std::set<TensorId> in_registers,
                          ReduceSteps reduce_steps) {
  TrafficOptions options;
  options.in_registers = std::move(in_registers);
  options.reduce_steps = std::move(reduce_steps);
  options.side_outputs = {group.side_outputs.begin(), group.side_outputs.end()};
  for (const auto* tensors : {&part.inputs, &part.members}) {
    for (const TensorId id : *tensors) {
      if (const Layout* layout = tensor_levels.LayoutOf(id))
        options.layouts.emplace(id, *layout);
    }
  }
  return options;
}

Subgraph PartOf(const TileGraph& graph, const Group& group) {
  Subgraph part = graph.SubgraphOf(group.members);
  part.outputs = {group.output};
  return part;
}

}  // namespace

GroupTraffic::GroupTraffic(const TileGraph& graph, const Group& group,
                           const TensorLevels& tensor_levels,
                           const std::vector<MemoryLevel>& levels,
                           int private_level, int closest_level,
                           const CostModel& model,
                           std::set<TensorId> in_registers,
                           ReduceSteps reduce_steps)
    : graph_(graph.graph()),
      tensor_levels_(tensor_levels),
      part_(PartOf(graph, group)),
      whole_(graph.graph().tensor(group.output).static_shape()),
      has_stages_(!group.stages.empty()),
      private_level_(private_level),
      page_bytes_(model.prefetch_page_bytes()) {
  levels_.reserve(closest_level);
  for (int level = 0; level < closest_level; ++level) {
    kept_bytes_.push_back(model.planned_cache_share() *
                          CapacityBytes(levels[level + 1]));
    if (level == 0) {
      levels_.emplace_back(
          graph, part_, levels[0], levels[1],
          OptionsFor(part_, group, tensor_levels, std::move(in_registers),
                     std::move(reduce_steps)));
    } else {
      levels_.emplace_back(levels_.front(), levels[level + 1]);
    }
  }
  for (const TensorId id : part_.inputs)
    input_levels_.push_back(tensor_levels.Of(id, group));
  for (const TensorId id : part_.outputs)
    output_levels_.push_back(tensor_levels.Of(id, group));
  for (const TensorId member : group.members) written_[member] = 0;
  stages_ = std::max<size_t>(1, group.stages.size());
  for (size_t stage = 0; stage < group.stages.size(); ++stage) {
    for (const TensorId member : group.stages[stage].members)
      written_[member] = stage;
  }
  for (const TensorId id : group.side_outputs)
    side_outputs_.push_back({id, written_.at(id), tensor_levels.Of(id, group)});
  std::map<TensorId, std::set<size_t>> readers;
  for (const TensorId member : group.members) {
    for (const TensorId input : graph.graph().Inputs(member))
      readers[input].insert(written_[member]);
  }
  for (const TensorId id : part_.inputs)
    input_stages_.emplace_back(readers[id].begin(), readers[id].end());
  for (const auto& [member, stage] : written_) {
    const auto after = readers[member].upper_bound(stage);
    read_[member] = after == readers[member].end() ? stage : *after;
  }
}

double GroupTraffic::RunBytes(size_t input, const TileOperand& region) const {
  const Tensor& tensor = graph_.tensor(part_.inputs[input]);
  // Constants are packed as the kernel reads them.
  if (tensor.kind == TensorKind::kConstant) return page_bytes_;
  const int64_t element_bytes = SizeBytes(tensor.dtype);
  return static_cast<double>(
      RunElements(region.extents, tensor.static_shape(),
                  tensor_levels_.LayoutOf(tensor.id),
                  static_cast<int64_t>(page_bytes_) / element_bytes) *
      element_bytes);
}

absl::StatusOr<std::vector<LevelBytes>> GroupTraffic::Across(
    int level, const LevelTiles& tiles) {
  std::vector<LevelBytes> bytes(stages_);
  const auto passes = [&](int of_tensor) { return of_tensor <= level; };
  const bool scratch = level >= private_level_;
  if (!scratch &&
      std::none_of(input_levels_.begin(), input_levels_.end(), passes) &&
      std::none_of(output_levels_.begin(), output_levels_.end(), passes) &&
      std::none_of(side_outputs_.begin(), side_outputs_.end(),
                   [&](const SideOutput& side) { return passes(side.level); }))
    return bytes;
  TW_ASSIGN_OR_RETURN(const LevelTraffic traffic,
                      levels_[level].ByOperand(tiles, whole_));
  TW_ASSIGN_OR_RETURN(const TileWork* const work, WorkOf(tiles.tile.spatial));
  for (size_t i = 0; i < input_levels_.size(); ++i) {
    if (!passes(input_levels_[i])) continue;
    const bool stays =
        static_cast<double>(work->inputs[i].step_bytes) <= kept_bytes_[level];
    const double run_bytes =
        input_levels_[i] == level ? RunBytes(i, work->inputs[i]) : page_bytes_;
    for (const size_t stage : input_stages_[i]) {
      bytes[stage].read += traffic.inputs[i];
      if (run_bytes < page_bytes_)
        bytes[stage].short_runs += traffic.inputs[i] / run_bytes;
      if (stays) break;
    }
  }
  for (size_t i = 0; i < output_levels_.size(); ++i) {
    if (!passes(output_levels_[i])) continue;
    bytes.back().written += traffic.outputs[i];
    // Results in memory are streamed there; other lines are read first.
    if (output_levels_[i] > 0) bytes.back().read += traffic.outputs[i];
  }
  // Scratch is used again and again: it is in the private level.
  if (!scratch) {
    for (const SideOutput& side : side_outputs_) {
      if (!passes(side.level)) continue;
      const double written = traffic.side_outputs.at(side.tensor);
      bytes[side.stage].written += written;
      if (side.level > 0) bytes[side.stage].read += written;
    }
    return bytes;
  }
  for (size_t i = 0; i < traffic.inside.size(); ++i) {
    const TensorId id = work->inside[i].tensor;
    LevelBytes& writer = bytes[written_.at(id)];
    writer.written += traffic.inside[i];
    writer.read += traffic.inside[i];
    bytes[read_.at(id)].read += traffic.inside[i];
  }
  return bytes;
}

absl::StatusOr<GroupTraffic::ByStage> GroupTraffic::Of(
    const std::vector<int64_t>& tile, int steps) {
  LevelTiles tiles{{tile, {}}, std::vector<int>(tile.size())};
  std::iota(tiles.order.begin(), tiles.order.end(), 0);
  if (steps >= 0) {
    std::rotate(tiles.order.begin() + steps, tiles.order.begin() + steps + 1,
                tiles.order.end());
  } else if (!has_stages_) {
    double least = 0;
    bool first = true;
    for (std::vector<int>& order : LoopOrders(tile, whole_)) {
      LevelTiles trial{tiles.tile, std::move(order)};
      TW_ASSIGN_OR_RETURN(const std::vector<LevelBytes> bytes,
                          Across(std::max(0, private_level_ - 1), trial));
      if (first || bytes[0].both() < least) {
        least = bytes[0].both();
        tiles = std::move(trial);
      }
      first = false;
    }
  }
  ByStage all(stages_);
  for (size_t level = 0; level < levels_.size(); ++level) {
    TW_ASSIGN_OR_RETURN(const std::vector<LevelBytes> bytes,
                        Across(static_cast<int>(level), tiles));
    for (size_t stage = 0; stage < stages_; ++stage)
      all[stage].push_back(bytes[stage]);
  }
  return all;
}

}  // namespace tilewright
