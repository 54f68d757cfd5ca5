#include "tilegraph/cost/stage_rules.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>

#include "base/ceil_div.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/analysis/families.h"
#include "tilegraph/traffic/tile_graph.h"
#include "tilegraph/traffic/tile_regions.h"

namespace tilewright {
namespace {

constexpr int64_t kBlocks[] = {128, 256, 512};

std::vector<int64_t> ReduceExtents(const Compute& compute) {
  std::vector<int64_t> extents;
  for (const Axis& axis : compute.reduce_axes)
    extents.push_back(axis.extent.value());
  return extents;
}

int ReadersOf(const TensorGraph& graph, const Group& group, TensorId tensor) {
  int readers = 0;
  for (const TensorId member : group.members) {
    const std::vector<TensorId>& inputs = graph.Inputs(member);
    readers +=
        static_cast<int>(std::count(inputs.begin(), inputs.end(), tensor));
  }
  return readers;
}

ComputeFamily FamilyOfStage(const TensorGraph& graph,
                            const std::vector<TensorId>& members) {
  std::optional<ComputeFamily> family;
  for (const TensorId id : members) {
    if (!graph.tensor(id).compute.combiner) continue;
    family = family ? ComputeFamily::kRowReduction : FamilyOf(graph, id);
  }
  return family ? *family : FamilyOf(graph, members.back());
}

// The sum of the last stage; nullopt if it has none, or several reductions.
std::optional<TensorId> LastSum(const TensorGraph& graph, const Group& group) {
  std::optional<TensorId> reduction;
  if (group.stages.size() < 2) return reduction;
  for (const TensorId id : group.stages.back().members) {
    if (!graph.tensor(id).compute.combiner) continue;
    if (reduction) return std::nullopt;
    reduction = id;
  }
  if (reduction &&
      graph.tensor(*reduction).compute.combiner->kind() != Combiner::Kind::kSum)
    return std::nullopt;
  return reduction;
}

class Blocks {
 public:
  Blocks(const TensorGraph& graph, const Group& group)
      : graph_(graph),
        group_(group),
        part_{group.members, {}, {group.output}},
        regions_(graph, part_, TileBetween::kNeeded),
        whole_(Needed({})) {}

  // The sum's axis over what stages before compute; nullopt if there is none.
  std::optional<size_t> Axis(TensorId reduction) {
    const std::vector<int64_t> whole =
        ReduceExtents(graph_.tensor(reduction).compute);
    for (size_t axis = 0; axis < whole.size(); ++axis) {
      if (whole[axis] == 1) continue;
      ReduceSteps steps = {{reduction, whole}};
      steps[reduction][axis] = 1;
      const Elements needed = Needed(steps);
      bool inside = false, outside = false;
      for (size_t s = 0; s + 1 < group_.stages.size(); ++s) {
        const TensorId result = group_.stages[s].members.back();
        if (!Shrinks(result, needed)) continue;
        (std::binary_search(group_.side_outputs.begin(),
                            group_.side_outputs.end(), result)
             ? outside
             : inside) = true;
      }
      if (inside && !outside) return axis;
    }
    return std::nullopt;
  }

  // Puts the stages that a block needs a part of into the last one's blocks,
  // which go along `axis` of `reduction`. Reductions of theirs that run over
  // all of the blocks follow them.
  void Place(TensorId reduction, size_t axis,
             std::vector<StageDecision>& stages) {
    const int64_t step = stages.back().reduce_step;
    ReduceSteps steps = {
        {reduction, ReduceExtents(graph_.tensor(reduction).compute)}};
    const int64_t extent = steps[reduction][axis];
    steps[reduction][axis] = step;
    for (size_t before = 0; before != steps.size();) {
      before = steps.size();
      const Elements needed = Needed(steps);
      for (size_t s = 0; s + 1 < group_.stages.size(); ++s) {
        const std::vector<TensorId>& members = group_.stages[s].members;
        if (!Shrinks(members.back(), needed)) continue;
        stages[s].in_blocks_of = static_cast<int>(stages.size()) - 1;
        for (const TensorId id : members) {
          if (!RunsOver(id, extent) || Shrinks(id, needed)) continue;
          steps[id] = {step};
          stages[s].follows = true;
        }
      }
    }
  }

  // Whether its reduction has one axis, of that extent.
  bool RunsOver(TensorId id, int64_t extent) const {
    return ReduceExtents(graph_.tensor(id).compute) ==
           std::vector<int64_t>{extent};
  }

 private:
  // That all of the output needs, by place among the members.
  using Elements = std::vector<double>;

  Elements Needed(const ReduceSteps& steps) {
    TileBox output;
    for (const int64_t extent : graph_.tensor(group_.output).static_shape())
      output.emplace_back().extent = extent;
    for (TileSpan& span : output) span.moves.assign(output.size(), 0);
    regions_.Of(output, std::vector<int64_t>(output.size(), 1), steps, needs_);
    Elements elements;
    for (const TileNeed& need : needs_) {
      elements.push_back(1);
      for (const TileSpan& span : need.box)
        elements.back() *= static_cast<double>(span.extent);
    }
    return elements;
  }

  // Whether less of it is needed than without blocks.
  bool Shrinks(TensorId id, const Elements& needed) const {
    const auto member =
        std::lower_bound(part_.members.begin(), part_.members.end(), id);
    const auto place = member - part_.members.begin();
    return needed[place] < whole_[place];
  }

  const TensorGraph& graph_;
  const Group& group_;
  const Subgraph part_;
  TileRegions regions_;
  std::vector<TileNeed> needs_;  // while Needed runs
  const Elements whole_;
};

}  // namespace

std::vector<StageDecision> ExpectedStages(const TensorGraph& graph,
                                          const Group& group,
                                          int64_t reduce_step) {
  std::vector<StageDecision> stages(group.stages.size());
  for (size_t s = 0; s < stages.size(); ++s)
    stages[s].family = FamilyOfStage(graph, group.stages[s].members);
  // A padding is written together with what it surrounds, but for what leaves
  // the group: that has a place in memory without it.
  for (const TensorId id : group.members) {
    const std::optional<ZeroPadding> zeros = AsZeroPadding(graph, id);
    if (!zeros || ReadersOf(graph, group, zeros->source) != 1 ||
        std::binary_search(group.side_outputs.begin(), group.side_outputs.end(),
                           zeros->source))
      continue;
    for (size_t s = 0; s + 1 < stages.size(); ++s) {
      if (group.stages[s].members.back() != zeros->source) continue;
      stages[s].held = false;
      for (size_t p = s + 1; p < stages.size(); ++p) {
        if (group.stages[p].members == std::vector<TensorId>{id})
          stages[p].family = stages[s].family;
      }
    }
  }
  if (reduce_step == 0) return stages;
  const std::optional<TensorId> reduction = LastSum(graph, group);
  if (!reduction) return stages;
  Blocks blocks(graph, group);
  const std::optional<size_t> axis = blocks.Axis(*reduction);
  if (!axis) return stages;
  stages.back().reduce_axis = static_cast<int>(*axis);
  stages.back().reduce_step = std::min(
      reduce_step, ReduceExtents(graph.tensor(*reduction).compute)[*axis]);
  blocks.Place(*reduction, *axis, stages);
  return stages;
}

bool IsComputedWithNext(const TensorGraph& graph, const Group& group,
                        size_t stage) {
  if (stage + 1 >= group.stages.size() || group.tile_plan.stages[stage].held)
    return false;
  // Its one reader is the padding.
  const auto& read = graph.Inputs(group.stages[stage + 1].members[0]);
  return std::find(read.begin(), read.end(),
                   group.stages[stage].members.back()) != read.end();
}

ReduceSteps ReduceStepsOf(const TensorGraph& graph, const Group& group) {
  const std::vector<StageDecision>& stages = group.tile_plan.stages;
  ReduceSteps steps;
  for (size_t s = 0; s < stages.size(); ++s) {
    const int blocks = stages[s].reduce_step > 0 ? static_cast<int>(s)
                       : stages[s].follows       ? stages[s].in_blocks_of
                                                 : -1;
    if (blocks < 0) continue;
    const StageDecision& of = stages[blocks];
    for (const TensorId id : group.stages[blocks].members) {
      const std::vector<int64_t> whole =
          ReduceExtents(graph.tensor(id).compute);
      if (whole.empty()) continue;
      std::vector<int64_t>& own = steps[id] = whole;
      own[of.reduce_axis] = std::min(whole[of.reduce_axis], of.reduce_step);
      if (!stages[s].follows) continue;
      for (const TensorId member : group.stages[s].members) {
        if (ReduceExtents(graph.tensor(member).compute) ==
            std::vector<int64_t>{whole[of.reduce_axis]})
          steps[member] = {own[of.reduce_axis]};
      }
    }
  }
  return steps;
}

int64_t ReduceBlocksOf(const TensorGraph& graph, const Group& group) {
  int64_t blocks = 1;
  for (const auto& [id, extents] : ReduceStepsOf(graph, group)) {
    const std::vector<Axis>& axes = graph.tensor(id).compute.reduce_axes;
    int64_t own = 1;
    for (size_t i = 0; i < axes.size(); ++i)
      own *= CeilDiv(axes[i].extent.value(), extents[i]);
    blocks = std::max(blocks, own);
  }
  return blocks;
}

std::vector<int64_t> ReduceStepsWorthTrying(const TensorGraph& graph,
                                            const Group& group, int64_t lanes) {
  const std::optional<TensorId> reduction = LastSum(graph, group);
  if (!reduction) return {};
  Blocks blocks(graph, group);
  const std::optional<size_t> axis = blocks.Axis(*reduction);
  if (!axis) return {};
  const int64_t extent = ReduceExtents(graph.tensor(*reduction).compute)[*axis];
  std::set<int64_t> steps;
  for (const int64_t block : kBlocks) {
    const int64_t step =
        CeilDiv(CeilDiv(extent, CeilDiv(extent, block)), lanes) * lanes;
    if (step < extent) steps.insert(step);
  }
  return {steps.begin(), steps.end()};
}

}  // namespace tilewright
