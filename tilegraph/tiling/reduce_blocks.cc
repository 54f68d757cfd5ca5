#include "tilegraph/tiling/reduce_blocks.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>

#include "base/ceil_div.h"
#include "tilegraph/region.h"

namespace tilewright {
namespace {

constexpr int64_t kBlocks[] = {128, 256, 512};

Region Box(const std::vector<int64_t>& extents) {
  Region region;
  for (const int64_t extent : extents)
    region.push_back({Expr::Int(0), extent, 1, true, ""});
  return region;
}

std::vector<int64_t> ReduceExtents(const Compute& compute) {
  std::vector<int64_t> extents;
  for (const Axis& axis : compute.reduce_axes)
    extents.push_back(axis.extent.value());
  return extents;
}

double Elements(const Region& region) {
  double elements = 1;
  for (const RegionDim& dim : region)
    elements *= static_cast<double>(dim.extent);
  return elements;
}

class Blocks {
 public:
  Blocks(const TensorGraph& graph, const Group& group)
      : graph_(graph), group_(group), whole_(Needed({})) {}

  // The reduction of the last stage; nullopt if it has none, or several.
  std::optional<TensorId> Reduction() const {
    std::optional<TensorId> reduction;
    if (group_.stages.size() < 2) return reduction;
    for (const TensorId id : group_.stages.back().members) {
      if (!graph_.tensor(id).compute.combiner) continue;
      if (reduction) return std::nullopt;
      reduction = id;
    }
    if (reduction && graph_.tensor(*reduction).compute.combiner->kind() !=
                         Combiner::Kind::kSum)
      return std::nullopt;
    return reduction;
  }

  // Its axis over what stages before compute; nullopt if there is none.
  std::optional<size_t> Axis(TensorId reduction) const {
    const std::vector<int64_t> whole =
        ReduceExtents(graph_.tensor(reduction).compute);
    for (size_t axis = 0; axis < whole.size(); ++axis) {
      if (whole[axis] == 1) continue;
      ReduceSteps steps = {{reduction, whole}};
      steps[reduction][axis] = 1;
      const auto needed = Needed(steps);
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

  // Adds the reductions of stages that a block needs a part of, but that run
  // over all of the blocks themselves: they follow them.
  void AddFollowers(int64_t extent, int64_t step, ReduceSteps& steps) const {
    for (size_t before = 0; before != steps.size();) {
      before = steps.size();
      const auto needed = Needed(steps);
      for (size_t s = 0; s + 1 < group_.stages.size(); ++s) {
        const std::vector<TensorId>& members = group_.stages[s].members;
        if (!Shrinks(members.back(), needed)) continue;
        for (const TensorId id : members) {
          const std::vector<int64_t> own =
              ReduceExtents(graph_.tensor(id).compute);
          if (own == std::vector<int64_t>{extent} && !Shrinks(id, needed))
            steps[id] = {step};
        }
      }
    }
  }

 private:
  using Regions = std::map<TensorId, Region>;

  Regions Needed(const ReduceSteps& steps) const {
    std::map<TensorId, Region> reduce;
    for (const auto& [id, extents] : steps) reduce[id] = Box(extents);
    const absl::StatusOr<Regions> needed = Propagate(
        graph_,
        {{group_.output, Box(graph_.tensor(group_.output).static_shape())}},
        group_.members, reduce,
        [](int) -> std::optional<Range> { return std::nullopt; });
    return needed.ok() ? *needed : Regions();
  }

  // Whether less of it is needed than without blocks.
  bool Shrinks(TensorId id, const Regions& needed) const {
    const auto part = needed.find(id), whole = whole_.find(id);
    return part != needed.end() && whole != whole_.end() &&
           Elements(part->second) < Elements(whole->second);
  }

  const TensorGraph& graph_;
  const Group& group_;
  const Regions whole_;
};

}  // namespace

ReduceSteps ReduceStepsOf(const TensorGraph& graph, const Group& group,
                          int64_t step) {
  const Blocks blocks(graph, group);
  const std::optional<TensorId> reduction = blocks.Reduction();
  if (!reduction) return {};
  const std::optional<size_t> axis = blocks.Axis(*reduction);
  if (!axis) return {};
  ReduceSteps steps = {
      {*reduction, ReduceExtents(graph.tensor(*reduction).compute)}};
  int64_t& own = steps[*reduction][*axis];
  const int64_t extent = own;
  own = std::min(own, step);
  blocks.AddFollowers(extent, own, steps);
  return steps;
}

std::vector<int64_t> ReduceStepsWorthTrying(const TensorGraph& graph,
                                            const Group& group, int64_t lanes) {
  const Blocks blocks(graph, group);
  const std::optional<TensorId> reduction = blocks.Reduction();
  if (!reduction) return {};
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
