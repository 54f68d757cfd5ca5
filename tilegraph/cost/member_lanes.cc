#include "tilegraph/cost/member_lanes.h"

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tilegraph/analysis/families.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright {
namespace {

template <typename Visitor>
void ForEachLoad(const Compute& compute, const Visitor& visit) {
  for (const Expr& body : compute.body) {
    Visit(body, [&](const Expr& load) {
      if (load.op() == Op::kLoad) visit(load);
    });
  }
}

class Lanes {
 public:
  Lanes(const TensorGraph& graph, const Group& group,
        const TensorLevels& tensor_levels)
      : graph_(graph),
        tensor_levels_(tensor_levels),
        members_(group.members.begin(), group.members.end()) {
    std::vector<Stage> stages = group.stages;
    if (stages.empty()) {
      stages.push_back({group.members});
      ends_ = {{group.output, tensor_levels.VectorDim(group.output)}};
    }
    for (const Stage& stage : group.stages)
      ends_[stage.members.back()] =
          tensor_levels.VectorDim(stage.members.back());
    lanes_ = ends_;
    for (const Stage& stage : stages) {
      for (size_t i = stage.members.size(); i-- > 0;)
        GoesTo(stage.members[i]);
    }
  }

  std::map<TensorId, int> Take() && { return std::move(lanes_); }

 private:
  // Sets the lanes of tensors that `reader` reads in registers, where they are
  // not set yet.
  void GoesTo(TensorId reader) {
    lanes_.emplace(reader, tensor_levels_.VectorDim(reader));
    const Compute& compute = graph_.tensor(reader).compute;
    const std::optional<int> var = VarOf(reader);
    ForEachLoad(compute, [&](const Expr& load) {
      const TensorId source = load.source();
      if (!InRegisters(source) || lanes_.count(source) > 0) return;
      lanes_[source] =
          var ? DimAlong(load, *var) : tensor_levels_.VectorDim(source);
    });
  }

  bool InRegisters(TensorId id) const {
    return members_.count(id) > 0 && ends_.count(id) == 0;
  }

  // The last dimension of the loaded tensor that moves with the axis.
  static int DimAlong(const Expr& load, int var) {
    for (size_t d = load.operands().size(); d-- > 0;) {
      if (Mentions(load.operand(static_cast<int>(d)), var))
        return static_cast<int>(d);
    }
    return -1;
  }

  // The axis along which vectors of `reader` lie; nullopt: it reads element by
  // element what it combines.
  std::optional<int> VarOf(TensorId reader) const {
    const Compute& compute = graph_.tensor(reader).compute;
    if (!compute.combiner) return lanes_.at(reader);
    switch (FamilyOf(graph_, reader)) {
      case ComputeFamily::kConvolution:
      case ComputeFamily::kContraction:
        return std::nullopt;
      case ComputeFamily::kDepthwise:
      case ComputeFamily::kPooling:
        return lanes_.at(reader);
      default:
        break;
    }
    std::optional<int> along;
    for (size_t r = 0; r < compute.reduce_axes.size(); ++r) {
      const int var = static_cast<int>(compute.axes.size() + r);
      ForEachLoad(compute, [&](const Expr& load) {
        if (MovesAlongMemory(load, var)) along = var;
      });
    }
    return along ? along : lanes_.at(reader);
  }

  // Whether the axis moves from neighbour to neighbour in what the kernel
  // really reads.
  bool MovesAlongMemory(const Expr& load, int var) const {
    const TensorId source = load.source();
    if (graph_.tensor(source).kind == TensorKind::kConstant) return false;
    if (!InRegisters(source)) {
      const int dim = tensor_levels_.VectorDim(source);
      return dim >= 0 && Mentions(load.operand(dim), var);
    }
    bool moves = false;
    for (size_t d = 0; d < load.operands().size(); ++d) {
      if (!Mentions(load.operand(static_cast<int>(d)), var)) continue;
      ForEachLoad(graph_.tensor(source).compute, [&](const Expr& inner) {
        moves |= MovesAlongMemory(inner, static_cast<int>(d));
      });
    }
    return moves;
  }

  const TensorGraph& graph_;
  const TensorLevels& tensor_levels_;
  const std::set<TensorId> members_;
  std::map<TensorId, int> ends_, lanes_;
};

}  // namespace

std::map<TensorId, int> MemberLanes(const TensorGraph& graph,
                                    const Group& group,
                                    const TensorLevels& tensor_levels) {
  return Lanes(graph, group, tensor_levels).Take();
}

}  // namespace tilewright
