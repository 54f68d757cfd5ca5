#include "backends/lowering/vector_plan.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "absl/types/span.h"
#include "backends/lowering/tile_rewrite.h"

namespace tilewright::lowering {

using kernel_ir::Buffer;
using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Kernel;
using kernel_ir::Level;
using kernel_ir::Stmt;
using kernel_ir::TileAxis;
using kernel_ir::TileOp;

namespace {

// Serial loops of up to this many iterations are unrolled where register
// buffers need their variables to be constants.
constexpr int64_t kMaxForcedUnroll = 16;
// What an element that is loaded or stored alone costs, in vector operations.
constexpr double kLaneCost = 1.5;

void VisitOps(const std::vector<Stmt>& stmts, std::vector<const For*>& loops,
              const std::function<void(const TileOp&,
                                       const std::vector<const For*>&)>& fn) {
  for (const Stmt& stmt : stmts) {
    if (const auto* loop = std::get_if<For>(&stmt.node)) {
      loops.push_back(loop);
      VisitOps(loop->body, loops, fn);
      loops.pop_back();
    } else if (const auto* branch = std::get_if<If>(&stmt.node)) {
      VisitOps(branch->then_body, loops, fn);
      VisitOps(branch->else_body, loops, fn);
    } else {
      fn(std::get<TileOp>(stmt.node), loops);
    }
  }
}

int64_t PowerOfTwoAtLeast(int64_t n) {
  int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

struct Access {
  int buffer;
  std::vector<Expr> index;
  bool is_store;
};

struct OpInfo {
  const TileOp* op;
  double weight = 1;  // elements over the whole task
  std::vector<Access> accesses;
  int64_t natural_lanes = 1;
  double arithmetic = 0;
  // The loop directly around it and what they are together, if they only join
  // elements of register buffers.
  const For* loop = nullptr;
  std::optional<LaneReduction> joins;
};

class Planner {
 public:
  Planner(const Kernel& kernel, const KernelRanges& ranges,
          const VectorTarget& target)
      : kernel_(kernel), ranges_(ranges), target_(target) {
    std::vector<const For*> loops;
    VisitOps(kernel.body, loops,
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
      // Elements of these types are rounded whenever they are stored; registers
      // hold f32.
      const bool rounded =
          b.dtype == DType::kFloat16 || b.dtype == DType::kBFloat16;
      if (b.level == Level::kRegisters &&
          (rounded || b.layout.physical_elements() > 4096))
        memory_.insert(b.id);
    }
    for (;;) {
      std::optional<int> conflict = Attempt();
      if (!conflict) break;
      memory_.insert(*conflict);
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
      for (const Access& access : info.accesses) {
        if (!InRegisters(access.buffer)) continue;
        const bool is_joined = plan_.lane_reductions.count(info.loop) > 0;
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
      if (reg.dim >= 0 && !SelfContained(kernel_.body, id))
        plan_.merged.insert(id);
    }
    return std::move(plan_);
  }

 private:
  bool InRegisters(int buffer) const {
    return kernel_.buffers[buffer].level == Level::kRegisters &&
           memory_.count(buffer) == 0;
  }

  // --- Whether every vector of a register buffer is written in full, as far as
  // anybody reads it.

  // The elements along the vectorised dimension that an operation handles;
  // kOneLane: it reads single ones.
  struct Extent {
    int64_t first, count;
    bool operator==(const Extent& o) const {
      return first == o.first && count == o.count;
    }
  };
  static constexpr Extent kOneLane = {0, 0};
  std::vector<Extent> ExtentsIn(const Stmt& stmt, int buffer) const {
    std::vector<Extent> extents;
    const int dim = plan_.registers.at(buffer).dim;
    auto add = [&](const TileOp& op) {
      const OpPlan& plan = plan_.ops.at(&op);
      auto access = [&](int id, absl::Span<const Expr> index) {
        if (id != buffer) return;
        const bool vector =
            plan.axis >= 0 && Mentions(index[dim], op.box[plan.axis].var);
        const auto joins = std::find_if(
            plan_.lane_reductions.begin(), plan_.lane_reductions.end(),
            [&](const auto& j) { return j.second.op == &op; });
        const bool joined = joins != plan_.lane_reductions.end() &&
                            Mentions(index[dim], joins->second.var);
        extents.push_back(
            vector   ? Extent{ToLinear(index[dim], ranges_.ranges()).constant,
                            op.box[plan.axis].extent}
            : joined ? Extent{0, kernel_.buffers[buffer].layout.shape()[dim]}
                     : kOneLane);
      };
      for (int dst : op.dst) access(dst, op.index);
      for (const Expr& body : op.body) {
        Visit(body, [&](const Expr& e) {
          if (e.op() == Op::kLoad) access(e.source(), e.operands());
        });
      }
    };
    if (const auto* op = std::get_if<TileOp>(&stmt.node)) {
      add(*op);
    } else {
      VisitStmt(stmt, add);
    }
    return extents;
  }
  static void VisitStmt(const Stmt& stmt,
                        const std::function<void(const TileOp&)>& fn) {
    std::vector<const For*> loops;
    auto all = [&](const std::vector<Stmt>& body) {
      VisitOps(
          body, loops,
          [&](const TileOp& op, const std::vector<const For*>&) { fn(op); });
    };
    if (const auto* loop = std::get_if<For>(&stmt.node)) all(loop->body);
    if (const auto* branch = std::get_if<If>(&stmt.node)) {
      all(branch->then_body);
      all(branch->else_body);
    }
  }

  // Sets the buffer without reading it, unconditionally.
  static bool Sets(const Stmt& stmt, int buffer) {
    const auto* op = std::get_if<TileOp>(&stmt.node);
    if (op == nullptr || op->phase == TileOp::Phase::kUpdate || op->predicate)
      return false;
    bool reads = false;
    for (const Expr& body : op->body) {
      Visit(body, [&](const Expr& e) {
        reads = reads || (e.op() == Op::kLoad && e.source() == buffer);
      });
    }
    return !reads &&
           std::find(op->dst.begin(), op->dst.end(), buffer) != op->dst.end();
  }

  // Each stretch of statements that touch the buffer starts with one that sets
  // it, and all of the stretch handle the same elements; or a loop or branch is
  // such by itself, and nothing set before it is read after it.
  bool SelfContained(const std::vector<Stmt>& stmts, int buffer) const {
    std::optional<Extent> live;
    for (const Stmt& stmt : stmts) {
      const std::vector<Extent> extents = ExtentsIn(stmt, buffer);
      if (extents.empty()) continue;
      if (Sets(stmt, buffer)) {
        live = extents[0];
        continue;
      }
      if (live &&
          std::all_of(extents.begin(), extents.end(), [&](const Extent& e) {
            return e == *live || e == kOneLane;
          }))
        continue;
      live.reset();
      if (const auto* loop = std::get_if<For>(&stmt.node)) {
        if (!SelfContained(loop->body, buffer)) return false;
      } else if (const auto* branch = std::get_if<If>(&stmt.node)) {
        if (!SelfContained(branch->then_body, buffer) ||
            !SelfContained(branch->else_body, buffer))
          return false;
      } else {
        return false;
      }
    }
    return true;
  }

  bool TouchesMemory(const OpInfo& info) const {
    return std::any_of(
        info.accesses.begin(), info.accesses.end(), [&](const Access& a) {
          return kernel_.buffers[a.buffer].level != Level::kRegisters;
        });
  }

  void AddOp(const TileOp& op, const std::vector<const For*>& loops) {
    OpInfo info;
    info.op = &op;
    if (!loops.empty()) {
      info.loop = loops.back();
      info.joins = AsLaneReduction(kernel_, *loops.back());
    }
    for (const For* loop : loops) {
      info.weight *= static_cast<double>(loop->extent);
      if (info.joins && loop == info.loop) continue;
      if (loop->kind != For::Kind::kUnroll && loop->extent > kMaxForcedUnroll)
        rolled_.insert(loop->var);
      if (loop->kind == For::Kind::kTask) rolled_.insert(loop->var);
    }
    for (const TileAxis& axis : op.box)
      info.weight *= static_cast<double>(axis.extent);
    int64_t bytes = 4;
    auto add = [&](int buffer, std::vector<Expr> index, bool is_store) {
      bytes = std::max(bytes, SizeBytes(kernel_.buffers[buffer].dtype));
      info.accesses.push_back({buffer, std::move(index), is_store});
    };
    for (int dst : op.dst) add(dst, op.index, true);
    for (const Expr& body : op.body) {
      Visit(body, [&](const Expr& e) {
        if (e.op() == Op::kLoad)
          add(e.source(), {e.operands().begin(), e.operands().end()}, false);
        if (!e.operands().empty() && e.op() != Op::kLoad &&
            e.dtype() != DType::kInt64)
          info.arithmetic += 1;
      });
    }
    info.natural_lanes = std::max<int64_t>(1, target_.vector_bytes / bytes);
    ops_.push_back(std::move(info));
  }

  // The plan with what is in memory now, or a register buffer that cannot be
  // one.
  std::optional<int> Attempt() {
    plan_ = VectorPlan();
    for (size_t i : order_) {
      const OpInfo& info = ops_[i];
      double best_cost = 0;
      std::optional<OpPlan> best;
      std::map<int, RegisterPlan> best_registers;
      int blocker = -1;
      for (int axis = static_cast<int>(info.op->box.size()) - 1; axis >= -1;
           --axis) {
        if (axis >= 0 && info.op->box[axis].extent == 1) continue;
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
      if (!best) return blocker;
      plan_.ops[info.op] = *best;
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
      if (variables > target_.max_unrolled_vectors) return id;
    }
    // Too long to be done element by element.
    for (const OpInfo& info : ops_) {
      if (!info.joins || info.loop->extent <= kMaxForcedUnroll ||
          JoinsVectors(*info.joins))
        continue;
      for (const Expr& body : info.op->body) {
        if (InRegisters(body.source())) return body.source();
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
  std::optional<double> Cost(const OpInfo& info, int axis, OpPlan& plan,
                             std::map<int, RegisterPlan>& registers,
                             int& blocker) {
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
    for (const Access& access : info.accesses) {
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
    double cost = info.arithmetic + 1;
    for (const Access& access : info.accesses) {
      if (InRegisters(access.buffer)) {
        if (!FitsRegisters(access, axis, var, plan.lanes,
                           info.joins.has_value(), registers)) {
          blocker = access.buffer;
          return std::nullopt;
        }
        continue;
      }
      cost += axis < 0 ? 1 : MemoryCost(access, var, extent, plan.lanes);
    }
    return cost * vectors / static_cast<double>(extent);
  }

  // The dimension of a register buffer whose index the variable runs along; -1:
  // none; -2: in no usable way.
  static int DimOf(const Access& access, int var) {
    int found = -1;
    for (size_t d = 0; d < access.index.size(); ++d) {
      if (!Mentions(access.index[d], var)) continue;
      if (found != -1) return -2;
      found = static_cast<int>(d);
    }
    return found;
  }

  // `inserts`: single lanes of vectors may be written.
  bool FitsRegisters(const Access& access, int axis, int var, int lanes,
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

  double MemoryCost(const Access& access, int var, int64_t extent,
                    int lanes) const {
    const RangeOf ranges = ranges_.ranges((extent + lanes - 1) / lanes,
                                          std::min<int64_t>(extent, lanes));
    std::vector<Expr> index;
    bool varies = false;
    for (const Expr& i : access.index) {
      varies = varies || Mentions(i, var);
      index.push_back(SplitLane(i, var, lanes, ranges_));
    }
    if (!varies) return 1;
    LinearForm offset =
        ToLinear(kernel_.buffers[access.buffer].layout.Offset(index), ranges);
    for (const auto& [term, coefficient] : offset.terms) {
      const bool lane =
          term.op() == Op::kVar && term.var_id() == ranges_.lane_var();
      if (lane ? coefficient != 1 : Mentions(term, ranges_.lane_var()))
        return lanes * kLaneCost * (access.is_store ? 2 : 1);
    }
    return 1;
  }

  const Kernel& kernel_;
  const KernelRanges& ranges_;
  const VectorTarget& target_;
  std::vector<OpInfo> ops_;
  std::vector<size_t> order_;
  std::set<int> rolled_;  // loop variables that stay variables
  std::set<int> memory_;  // register buffers that must live in memory
  VectorPlan plan_;
};

}  // namespace

KernelRanges::KernelRanges(const Kernel& kernel)
    : extents_(kernel.num_vars, 1) {
  std::vector<const For*> loops;
  VisitOps(kernel.body, loops,
           [&](const TileOp& op, const std::vector<const For*>& around) {
             for (const For* loop : around) extents_[loop->var] = loop->extent;
             for (const TileAxis& axis : op.box)
               extents_[axis.var] = axis.extent;
           });
}

RangeOf KernelRanges::ranges(int64_t chunk_extent, int64_t lane_extent) const {
  return [this, chunk_extent, lane_extent](int var) -> std::optional<Range> {
    if (var == chunk_var()) return Range{0, chunk_extent - 1};
    if (var == lane_var()) return Range{0, lane_extent - 1};
    if (var < 0 || var > lane_var()) return std::nullopt;
    return Range{0, extents_[var] - 1};
  };
}

Expr SplitLane(const Expr& expr, int axis_var, int lanes,
               const KernelRanges& ranges) {
  return Substitute(expr, [&](int var) -> Expr {
    if (var != axis_var) return Expr();
    return Expr::Var(ranges.chunk_var(), "chunk") * Expr::Int(lanes) +
           Expr::Var(ranges.lane_var(), "lane");
  });
}

VectorPlan PlanVectors(const Kernel& kernel, const KernelRanges& ranges,
                       const VectorTarget& target) {
  return Planner(kernel, ranges, target).Run();
}

}  // namespace tilewright::lowering
