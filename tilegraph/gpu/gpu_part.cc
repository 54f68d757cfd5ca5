#include "tilegraph/gpu/gpu_part.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "tilegraph/analysis/access.h"
#include "tilegraph/expr/index_eval.h"
#include "tilegraph/ir/operations.h"

namespace tilewright {
namespace {

// Steps of fewer terms are taken whole.
constexpr int64_t kShortestSteppedAxis = 16;

GpuIndex IndexOf(const Compute& compute, const Expr& index, int64_t extent) {
  GpuIndex result;
  result.extent = extent;
  Visit(index, [&](const Expr& e) {
    if (e.op() == Op::kVar) result.axes |= 1u << e.var_id();
    result.by_data |= e.op() == Op::kLoad;
  });
  std::vector<int64_t> last;  // value of each axis
  for (const auto* axes : {&compute.axes, &compute.reduce_axes})
    for (const Axis& axis : *axes) last.push_back(axis.extent.value() - 1);
  const LoadAt nothing = [](const Expr&, absl::Span<const int64_t>) {
    return int64_t{0};
  };
  std::vector<int64_t> at(last.size(), 0);
  const int64_t base = EvalIndex(index, at, nothing);
  for (size_t axis = 0; axis < last.size(); ++axis) {
    const auto moved_to = [&](int64_t value) {
      at[axis] = value;
      const int64_t moved = EvalIndex(index, at, nothing) - base;
      at[axis] = 0;
      return moved;
    };
    const int64_t move = moved_to(1);
    const bool affine = moved_to(last[axis]) == move * last[axis];
    result.moves.push_back(affine ? move : 0);
  }
  return result;
}

GpuLoad LoadOf(const TensorGraph& graph, const Compute& compute,
               const Expr& load) {
  GpuLoad result;
  result.tensor = load.source();
  const std::vector<int64_t> shape = graph.tensor(load.source()).static_shape();
  for (size_t d = 0; d < shape.size(); ++d) {
    result.index.push_back(
        IndexOf(compute, load.operand(static_cast<int>(d)), shape[d]));
    result.dims |= result.index.back().axes;
  }
  result.dims &= (1u << compute.axes.size()) - 1;
  return result;
}

double OperationsOf(const Compute& compute) {
  return std::max(1.0, static_cast<double>(OperationsPerPoint(compute)));
}

double WorkOf(const TensorGraph& graph, const GpuMember& member) {
  return static_cast<double>(Points(graph.tensor(member.id))) *
         member.operations;
}

// The last dimension of what is read does not move with the last axis: lanes
// side by side would read far apart.
bool Transposes(const Compute& compute, const GpuLoad& load) {
  if (compute.axes.size() < 2 || load.index.size() < 2) return false;
  const size_t last = compute.axes.size() - 1;
  if (compute.axes[last].extent.value() == 1) return false;
  const bool moved = std::any_of(
      load.index.begin(), load.index.end(),
      [&](const GpuIndex& index) { return index.moves[last] != 0; });
  return moved && load.index.back().moves[last] == 0;
}

// Builds a part, one kind of fact after the other.
class PartBuilder {
 public:
  PartBuilder(const TensorGraph& graph, const Subgraph& part)
      : graph_(graph), part_(part) {}

  GpuPart Build() && {
    for (const TensorId id : part_.members) AddMember(id);
    FormClusters();
    NumberClusters();
    for (const TensorId id : part_.inputs) AddInput(id);
    for (size_t m = 0; m < gpu_.members.size(); ++m)
      ChooseStep(static_cast<int>(m));
    for (GpuInput& input : gpu_.inputs) {
      if (input.stepped_by >= 0 &&
          gpu_.members[input.stepped_by].stepped_axis < 0)
        input.stepped_by = -1;
    }
    for (GpuMember& member : gpu_.members) ShareLoads(member);
    return std::move(gpu_);
  }

 private:
  const Compute& ComputeOf(int member) const {
    return graph_.tensor(gpu_.members[member].id).compute;
  }

  void AddMember(TensorId id) {
    const int index = static_cast<int>(gpu_.members.size());
    const Compute& compute = graph_.tensor(id).compute;
    GpuMember member;
    member.id = id;
    member.contraction = AsContraction(graph_, id);
    // Guards of a product's operands are seen to while they are staged.
    member.operations = member.contraction ? 2 : OperationsOf(compute);
    member.output =
        std::binary_search(part_.outputs.begin(), part_.outputs.end(), id);
    member.cluster = index;
    for (const Expr& body : compute.body) {
      Visit(body, [&](const Expr& e) {
        if (e.op() == Op::kLoad)
          member.loads.push_back(LoadOf(graph_, compute, e));
      });
    }
    for (const TensorId read : graph_.Inputs(id))
      readers_[read].push_back(index);
    index_[id] = index;
    gpu_.members.push_back(std::move(member));
  }

  // A compute that reads a member element by element is fused into its cluster;
  // one that reads it otherwise needs it in the scratchpad.
  void FormClusters() {
    for (GpuMember& self : gpu_.members) {
      for (const int r : readers_[self.id]) {
        const GpuMember& reader = gpu_.members[r];
        if (!ComputeOf(r).reduce_axes.empty() ||
            !ReadsElementwise(graph_, reader.id, self.id)) {
          self.shared = true;
          continue;
        }
        const int from = reader.cluster, to = self.cluster;
        for (GpuMember& other : gpu_.members)
          if (other.cluster == from || other.cluster == to)
            other.cluster = std::min(from, to);
      }
    }
  }

  void NumberClusters() {
    std::map<int, int> number;
    for (size_t m = 0; m < gpu_.members.size(); ++m) {
      GpuMember& member = gpu_.members[m];
      const auto [found, added] = number.emplace(
          member.cluster, static_cast<int>(gpu_.clusters.size()));
      if (added) gpu_.clusters.push_back({static_cast<int>(m), {}});
      member.cluster = found->second;
      GpuCluster& cluster = gpu_.clusters[member.cluster];
      cluster.members.push_back(static_cast<int>(m));
      if (WorkOf(graph_, member) > WorkOf(graph_, gpu_.members[cluster.root]))
        cluster.root = static_cast<int>(m);
    }
  }

  void AddInput(TensorId id) {
    GpuInput input{id};
    for (const int r : readers_[id]) {
      const Compute& compute = ComputeOf(r);
      input.staged |= !compute.reduce_axes.empty();
      for (const GpuLoad& load : gpu_.members[r].loads)
        input.staged |= load.tensor == id && Transposes(compute, load);
    }
    if (readers_[id].size() == 1) input.stepped_by = readers_[id][0];
    gpu_.inputs.push_back(input);
  }

  // Steps along the longest reduce axis, if it alone reads what it reads.
  void ChooseStep(int m) {
    bool own_operand = false, others = false;
    for (const GpuInput& input : gpu_.inputs) {
      const std::vector<int>& who = readers_[input.id];
      if (std::find(who.begin(), who.end(), m) == who.end()) continue;
      (who.size() == 1 ? own_operand : others) = true;
    }
    if (!own_operand || others) return;
    const std::vector<Axis>& axes = ComputeOf(m).reduce_axes;
    int& stepped = gpu_.members[m].stepped_axis;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      const int64_t extent = axes[axis].extent.value();
      if (extent < kShortestSteppedAxis) continue;
      if (stepped < 0 || extent > axes[stepped].extent.value())
        stepped = static_cast<int>(axis);
    }
  }

  // Which loads go to the scratchpad.
  void ShareLoads(GpuMember& member) {
    for (GpuLoad& load : member.loads) {
      const auto found = index_.find(load.tensor);
      if (found != index_.end()) {
        load.shared = gpu_.members[found->second].cluster != member.cluster;
      } else {
        const auto input = std::lower_bound(part_.inputs.begin(),
                                            part_.inputs.end(), load.tensor);
        load.shared = gpu_.inputs[input - part_.inputs.begin()].staged;
      }
    }
  }

  const TensorGraph& graph_;
  const Subgraph& part_;
  GpuPart gpu_;
  std::map<TensorId, int> index_;                 // of members
  std::map<TensorId, std::vector<int>> readers_;  // members
};

}  // namespace

std::vector<int64_t> ExtentsOf(const GpuLoad& load,
                               const std::vector<int64_t>& extents) {
  std::vector<int64_t> box;
  for (const GpuIndex& index : load.index) {
    int64_t extent = 1;
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      if (extents[axis] == 1 || !(index.by_data || index.axes >> axis & 1))
        continue;
      extent += index.moves[axis] == 0
                    ? index.extent
                    : std::abs(index.moves[axis]) * (extents[axis] - 1);
    }
    box.push_back(std::min(extent, index.extent));
  }
  return box;
}

GpuPart AsGpuPart(const TensorGraph& graph, const Subgraph& part) {
  return PartBuilder(graph, part).Build();
}

}  // namespace tilewright
