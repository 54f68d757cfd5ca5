#include "backends/lowering/vectorize/vector_plan.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "backends/lowering/tile/tile_rewrite.h"
#include "backends/lowering/vectorize/merged_registers.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::lowering {

using kernel_ir::Buffer;
using kernel_ir::For;
using kernel_ir::Kernel;
using kernel_ir::Level;
using kernel_ir::TileAxis;
using kernel_ir::TileOp;

namespace {

// Serial loops of up to this many iterations are unrolled where register
// buffers need their variables to be constants.
constexpr int64_t kMaxForcedUnroll = 16;

int64_t PowerOfTwoAtLeast(int64_t n) {
  int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

struct OpInfo {
  OpAccesses accesses;
  double weight = 1;  // elements over the whole task
  // The loop directly around it and what they are together, if they only join
  // elements of register buffers.
  const For* loop = nullptr;
  std::optional<LaneReduction> joins;
};

class Planner {
 public:
  Planner(const Kernel& kernel, const KernelRanges& ranges,
          const VectorTarget& target)
      : kernel_(kernel),
        ranges_(ranges),
        target_(target),
        costs_(kernel, ranges, target) {
    VisitOps(kernel.body,
             [&](const TileOp& op, const std::vector<const For*>& around) {
               AddOp(op, around);
             });
    // The heaviest operations choose first; those that touch registers alone
    // take what comes, what joins the lanes of vectors before the others.
    const auto rank = [&](const OpInfo& info) {
      return info.joins ? 1 : TouchesMemory(info) ? 0 : 2;
    };
    order_.resize(ops_.size());
    for (size_t i = 0; i < order_.size(); ++i) order_[i] = i;
    std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
      const int rank_a = rank(ops_[a]), rank_b = rank(ops_[b]);
      return rank_a != rank_b ? rank_a < rank_b
                              : ops_[a].weight > ops_[b].weight;
    });
  }

  VectorPlan Run() {
    for (const Buffer& b : kernel_.buffers) {
      if (b.level == Level::kRegisters && b.layout.physical_elements() > 4096)
        memory_.insert(b.id);
    }
    for (;;) {
      const std::optional<Conflict> conflict = Attempt();
      if (!conflict) break;
      if (conflict->lanes < 0 ||
          !refused_.emplace(conflict->buffer, conflict->lanes).second)
        memory_.insert(conflict->buffer);
    }
    for (const Buffer& b : kernel_.buffers) {
      if (b.level == Level::kRegisters && memory_.count(b.id))
        plan_.demoted.push_back(b.name);
    }
    for (const OpInfo& info : ops_) {
      if (info.joins && JoinsVectors(*info.joins))
        plan_.lane_reductions.emplace(info.loop, *info.joins);
    }
    for (const OpInfo& info : ops_) {
      const bool is_joined = plan_.lane_reductions.count(info.loop) > 0;
      for (const TileAccess& access : info.accesses.accesses) {
        if (!InRegisters(access.buffer)) continue;
        for (const Expr& index : access.index) {
          Visit(index, [&](const Expr& e) {
            if (e.op() == Op::kVar &&
                !(is_joined && e.var_id() == info.joins->var))
              plan_.constant_vars.insert(e.var_id());
          });
        }
      }
    }
    for (const auto& [id, reg] : plan_.registers) {
      if (reg.dim >= 0 && MustMerge(kernel_, ranges_, plan_, id))
        plan_.merged.insert(id);
    }
    return std::move(plan_);
  }

 private:
  bool InRegisters(int buffer) const {
    return kernel_.buffers[buffer].level == Level::kRegisters &&
           memory_.count(buffer) == 0;
  }

  bool TouchesMemory(const OpInfo& info) const {
    return std::any_of(info.accesses.accesses.begin(),
                       info.accesses.accesses.end(), [&](const TileAccess& a) {
                         return kernel_.buffers[a.buffer].level !=
                                Level::kRegisters;
                       });
  }

  void AddOp(const TileOp& op, const std::vector<const For*>& loops) {
    OpInfo info{OpAccesses(kernel_, op, target_.vector_bytes)};
    if (!loops.empty()) {
      info.loop = loops.back();
      info.joins = AsLaneReduction(kernel_, *loops.back());
    }
    for (const For* loop : loops) {
      info.weight *= static_cast<double>(loop->extent);
      if (info.joins && loop == info.loop) continue;
      if (loop->kind != For::Kind::kUnroll && loop->extent > kMaxForcedUnroll)
        rolled_.insert(loop->var);
      if (loop->kind == For::Kind::kTask || loop->kind == For::Kind::kThread)
        rolled_.insert(loop->var);
    }
    for (const TileAxis& axis : op.box)
      info.weight *= static_cast<double>(axis.extent);
    ops_.push_back(std::move(info));
  }

  // A register buffer that cannot be one, with `lanes` as the dimension that
  // vectors run along; -1: along whichever.
  struct Conflict {
    int buffer;
    int lanes = -1;
  };

  // The plan with what is in memory and refused now, or what stands against it.
  std::optional<Conflict> Attempt() {
    plan_ = VectorPlan();
    for (size_t i : order_) {
      const OpInfo& info = ops_[i];
      double best_cost = 0;
      std::optional<OpPlan> best;
      std::map<int, RegisterPlan> best_registers;
      int blocker = -1;
      const TileOp& op = *info.accesses.op;
      for (int axis = static_cast<int>(op.box.size()) - 1; axis >= -1; --axis) {
        if (axis >= 0 && op.box[axis].extent == 1) continue;
        std::map<int, RegisterPlan> registers = plan_.registers;
        OpPlan candidate;
        std::optional<double> cost =
            Cost(info, axis, candidate, registers, blocker);
        if (cost && (!best || *cost < best_cost)) {
          best_cost = *cost;
          best = candidate;
          best_registers = std::move(registers);
        }
      }
      if (!best) {
        const auto known = plan_.registers.find(blocker);
        return Conflict{
            blocker, known == plan_.registers.end() ? -1 : known->second.dim};
      }
      plan_.ops[&op] = *best;
      plan_.registers = std::move(best_registers);
    }
    for (const auto& [id, reg] : plan_.registers) {
      const std::vector<int64_t>& shape = kernel_.buffers[id].layout.shape();
      int64_t variables = 1;
      for (size_t d = 0; d < shape.size(); ++d) {
        variables *= static_cast<int>(d) == reg.dim
                         ? (shape[d] + reg.lanes - 1) / reg.lanes
                         : shape[d];
      }
      // Nor are single elements better than vectors in memory.
      if (variables > target_.max_unrolled_vectors ||
          (reg.dim < 0 && refused_.count(id) > 0))
        return Conflict{id};
    }
    // Too long to be done element by element.
    for (const OpInfo& info : ops_) {
      if (!info.joins || info.loop->extent <= kMaxForcedUnroll ||
          JoinsVectors(*info.joins))
        continue;
      for (const Expr& body : info.accesses.op->body) {
        if (InRegisters(body.source())) return Conflict{body.source()};
      }
    }
    return std::nullopt;
  }

  // Whether all its sources are cut into whole vectors along the dimension that
  // is joined.
  bool JoinsVectors(const LaneReduction& joins) const {
    int lanes = 0;
    for (const Expr& body : joins.op->body) {
      const auto found = plan_.registers.find(body.source());
      if (!InRegisters(body.source()) || found == plan_.registers.end() ||
          found->second.dim != joins.dim || found->second.lanes == 1 ||
          (lanes != 0 && found->second.lanes != lanes))
        return false;
      lanes = found->second.lanes;
      if (kernel_.buffers[body.source()].layout.shape()[joins.dim] % lanes != 0)
        return false;
    }
    return plan_.ops.at(joins.op).axis < 0;
  }

  // Vector operations per element; nullopt if a register buffer (`blocker`)
  // does not allow this axis.
  std::optional<double> Cost(const OpInfo& op_info, int axis, OpPlan& plan,
                             std::map<int, RegisterPlan>& registers,
                             int& blocker) {
    const OpAccesses& info = op_info.accesses;
    const TileOp& op = *info.op;
    const int64_t extent = axis < 0 ? 1 : op.box[axis].extent;
    const int var = axis < 0 ? -1 : op.box[axis].var;
    // The lanes of a vector are different elements.
    if (axis >= 0 &&
        std::none_of(op.index.begin(), op.index.end(),
                     [&](const Expr& i) { return Mentions(i, var); }))
      return std::nullopt;
    plan.axis = axis;
    plan.lanes = axis < 0 ? 1
                          : static_cast<int>(std::min(
                                info.natural_lanes, PowerOfTwoAtLeast(extent)));
    // A register buffer decides how many lanes a vector has.
    for (const TileAccess& access : info.accesses) {
      if (!InRegisters(access.buffer) || axis < 0) continue;
      int dim = DimOf(access, var);
      if (dim < 0) continue;
      auto known = registers.find(access.buffer);
      if (known != registers.end()) {
        plan.lanes = known->second.lanes;
      } else {
        plan.lanes = static_cast<int>(
            std::min(info.natural_lanes,
                     PowerOfTwoAtLeast(
                         kernel_.buffers[access.buffer].layout.shape()[dim])));
      }
      break;
    }
    if (axis >= 0 && plan.lanes == 1) return std::nullopt;
    const double vectors =
        static_cast<double>((extent + plan.lanes - 1) / plan.lanes);
    for (const TileAccess& access : info.accesses) {
      if (InRegisters(access.buffer) &&
          !FitsRegisters(access, axis, var, plan.lanes,
                         op_info.joins.has_value(), registers)) {
        blocker = access.buffer;
        return std::nullopt;
      }
    }
    return (info.arithmetic + 1 + CheapestRows(info, plan)) * vectors /
           static_cast<double>(extent);
  }

  // The accesses of memory, per vector; sets the rows of the plan.
  double CheapestRows(const OpAccesses& info, OpPlan& plan) {
    const auto memory = [&](const OpPlan& with) {
      double cost = 0;
      for (const TileAccess& access : info.accesses) {
        if (!InRegisters(access.buffer))
          cost += costs_.Cost(info, access, with);
      }
      return cost;
    };
    double least = memory(plan);
    // No access can be cheaper than one operation.
    const auto cheapest = std::count_if(
        info.accesses.begin(), info.accesses.end(),
        [&](const TileAccess& access) { return !InRegisters(access.buffer); });
    if (plan.axis < 0 || least <= static_cast<double>(cheapest)) return least;
    for (int row = 0; row < static_cast<int>(info.op->box.size()); ++row) {
      OpPlan with = plan;
      with.row = row;
      with.rows = costs_.MaxRows(info, row);
      if (row == plan.axis || with.rows < 2 || !IsLaidOut(info, row)) continue;
      const double cost = memory(with);
      if (cost >= least) continue;
      least = cost;
      plan = with;
    }
    return least;
  }
  // Whether all positions of an axis can stand in a row in the code.
  bool IsLaidOut(const OpAccesses& info, int axis) const {
    const TileAxis& row = info.op->box[axis];
    if (row.extent <= costs_.MaxRows(info, axis)) return true;
    return std::any_of(
        info.accesses.begin(), info.accesses.end(),
        [&](const TileAccess& access) {
          return InRegisters(access.buffer) &&
                 std::any_of(
                     access.index.begin(), access.index.end(),
                     [&](const Expr& i) { return Mentions(i, row.var); });
        });
  }

  // The dimension of a register buffer whose index the variable runs along; -1:
  // none; -2: in no usable way.
  static int DimOf(const TileAccess& access, int var) {
    int found = -1;
    for (size_t d = 0; d < access.index.size(); ++d) {
      if (!Mentions(access.index[d], var)) continue;
      if (found != -1) return -2;
      found = static_cast<int>(d);
    }
    return found;
  }

  // `inserts`: single lanes of vectors may be written.
  bool FitsRegisters(const TileAccess& access, int axis, int var, int lanes,
                     bool inserts, std::map<int, RegisterPlan>& registers) {
    const Buffer& buffer = kernel_.buffers[access.buffer];
    for (const Expr& index : access.index) {
      bool constant = true;
      Visit(index, [&](const Expr& e) {
        constant = constant && e.op() != Op::kLoad &&
                   !(e.op() == Op::kVar && rolled_.count(e.var_id()));
      });
      if (!constant) return false;
    }
    int dim = axis < 0 ? -1 : DimOf(access, var);
    if (dim == -2) return false;
    if (const auto refused = refused_.find(access.buffer);
        dim >= 0 && refused != refused_.end() && refused->second == dim)
      return false;
    if (dim < 0 && !access.is_store)
      return true;  // whole variables and single lanes can be read alike
    RegisterPlan wanted{dim, dim < 0 ? 1 : lanes};
    auto [known, inserted] = registers.emplace(access.buffer, wanted);
    if (dim < 0) {
      if (known->second.dim >= 0 && !inserts) return false;
    } else {
      if (known->second.dim != dim || known->second.lanes != lanes)
        return false;
      LinearForm form = ToLinear(access.index[dim], ranges_.ranges());
      // Chunks start at multiples of the lanes wherever the other variables
      // stand.
      if (form.CoefficientOf(var) != 1 || form.constant % lanes != 0)
        return false;
      for (const auto& [term, coefficient] : form.terms) {
        if (term.op() == Op::kVar && term.var_id() == var) continue;
        if (Mentions(term, var) || coefficient % lanes != 0) return false;
      }
    }
    return buffer.layout.shape().size() == access.index.size();
  }

  const Kernel& kernel_;
  const KernelRanges& ranges_;
  const VectorTarget& target_;
  AccessCosts costs_;
  std::vector<OpInfo> ops_;
  std::vector<size_t> order_;
  std::set<int> rolled_;  // loop variables that stay variables
  std::set<int> memory_;  // register buffers that must live in memory
  // By register buffer: the dimension along which its vectors were tried in
  // vain.
  std::map<int, int> refused_;
  VectorPlan plan_;
};

}  // namespace

VectorPlan PlanVectors(const Kernel& kernel, const KernelRanges& ranges,
                       const VectorTarget& target) {
  return Planner(kernel, ranges, target).Run();
}

}  // namespace tilewright::lowering
