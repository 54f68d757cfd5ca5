#include "backends/lowering/vectorize/emit_tile_op.h"

#include <algorithm>
#include <utility>

#include "backends/lowering/tile/tile_rewrite.h"
#include "backends/lowering/vectorize/tile_op_emitter.h"
#include "base/check.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::lowering {

using kernel_ir::TileAxis;
using kernel_ir::TileOp;

void OpEmitter::Run() {
  std::vector<Expr> scalar;
  if (!Predicates(scalar)) return;
  if (plan_.axis >= 0) {
    extent_ = op_.box[plan_.axis].extent;
    axis_var_ = op_.box[plan_.axis].var;
  }
  Prepare();
  if (!scalar.empty()) b_.BeginIf(c_.EmitScalar(Conjunction(scalar)));
  Loops();
  if (!scalar.empty()) b_.EndIf();
}

// Sorts the conditions; false if nothing is ever done.
bool OpEmitter::Predicates(std::vector<Expr>& scalar) {
  if (!op_.predicate) return true;
  for (const Expr& condition : Conjuncts(op_.predicate)) {
    Expr bound = c_.BindLoops(condition);
    if (bound.IsIntConst(0)) return false;
    if (bound.IsIntConst(1)) continue;
    const auto mentioned = [&](const TileAxis& a) {
      return Mentions(bound, a.var);
    };
    const bool element =
        std::any_of(op_.box.begin(), op_.box.end(), mentioned) ||
        std::any_of(taps_.begin(), taps_.end(), mentioned);
    (element ? element_conditions_ : scalar).push_back(bound);
  }
  return true;
}

Expr OpEmitter::BindOp(const Expr& e) {
  Expr bound = c_.BindLoops(e);
  return plan_.axis < 0
             ? bound
             : Simplify(SplitLane(bound, axis_var_, plan_.lanes, c_.ranges),
                        ranges());
}

void OpEmitter::Prepare() {
  ChooseUnrolled();
  for (Expr& condition : element_conditions_) condition = BindOp(condition);
  for (const Expr& body : op_.body) {
    const Expr bound = c_.BindLoops(body);
    Visit(bound, [&](const Expr& e) {
      if (e.op() == Op::kLoad) in_bounds_[BindOp(e)] = InBounds(e);
    });
    body_.push_back(BindOp(bound));
    VisitLoads(body_.back(),
               [&](const Expr& load, const std::vector<Expr>& conditions) {
                 std::vector<Expr>& all = guards_[load];
                 all.insert(all.end(), conditions.begin(), conditions.end());
               });
  }
  for (const Expr& index : op_.index) dst_index_.push_back(BindOp(index));
  if (op_.phase == TileOp::Phase::kInit) body_ = op_.combiner->Identity();
  if (op_.phase == TileOp::Phase::kUpdate) {
    std::vector<Expr> a, b;
    for (int i = 0; i < op_.combiner->arity(); ++i) {
      a.push_back(
          Expr::Load(kAccumulator - i, op_.combiner->component_dtype(i), {}));
      b.push_back(
          Expr::Load(kElement - i, op_.combiner->component_dtype(i), {}));
    }
    combine_ = op_.combiner->Combine(a, b);
    ChooseDot();
  }
}

bool OpEmitter::InBounds(const Expr& load) const {
  // Threads read nothing of what they share before it is written.
  if (MayChange(load.source())) return false;
  const Layout& layout = c_.kernel.buffers[load.source()].layout;
  for (size_t d = 0; d < load.operands().size(); ++d) {
    std::optional<Range> range =
        RangeOfExpr(load.operand(d), c_.ranges.ranges());
    if (!range || range->min < -layout.pad_before()[d] ||
        range->max >= layout.shape()[d] + layout.pad_after()[d])
      return false;
  }
  // Without its guards, what its index reads is read without them, too.
  bool there = true;
  for (const Expr& index : load.operands()) {
    Visit(index, [&](const Expr& e) {
      there = there &&
              (e.op() != Op::kLoad || c_.memory[e.source()] < 0 || InBounds(e));
    });
  }
  return there;
}

// Axes whose positions are laid out in a row; the others become loops around
// them.
void OpEmitter::ChooseUnrolled() {
  const int rank = static_cast<int>(op_.box.size());
  unrolled_.assign(rank, false);
  std::vector<int> inner_first;
  if (plan_.axis >= 0) inner_first.push_back(plan_.axis);
  for (int i = rank - 1; i >= 0; --i) {
    if (i != plan_.axis) inner_first.push_back(i);
  }
  int64_t product = 1;
  bool registers = false;
  for (int i : inner_first) {
    const bool constant = c_.plan.constant_vars.count(op_.box[i].var) > 0;
    if (!constant && i != plan_.row) continue;
    unrolled_[i] = true;
    registers = registers || constant;
    product *= Steps(i);
  }
  const int64_t limit = registers
                            ? c_.target.max_unrolled_vectors
                            : std::min(c_.target.max_unrolled_vectors,
                                       c_.target.max_unrolled_memory_vectors);
  for (int i : inner_first) {
    if (unrolled_[i]) continue;
    if (product * Steps(i) > limit) break;
    unrolled_[i] = true;
    product *= Steps(i);
  }
  positions_ = product;
  ChooseOrder();
  if (op_.phase == TileOp::Phase::kUpdate && registers) {
    c_.report.max_live_accumulators = std::max<int>(
        c_.report.max_live_accumulators,
        static_cast<int>(product * static_cast<int64_t>(op_.dst.size())));
  }
}

void OpEmitter::Loops() {
  std::vector<int> looped;
  for (size_t i = 0; i < op_.box.size(); ++i) {
    if (!unrolled_[i] && static_cast<int>(i) != plan_.axis)
      looped.push_back(static_cast<int>(i));
  }
  for (int i : looped) Open(op_.box[i].var, op_.box[i].extent, op_.box[i].name);
  if (plan_.axis < 0 || unrolled_[plan_.axis]) {
    for (int64_t chunk = 0; chunk * plan_.lanes < extent_; ++chunk)
      chunks_.push_back(chunk);
    Positions();
  } else {
    const int64_t full = extent_ / plan_.lanes;
    const int unroll = static_cast<int>(std::max<int64_t>(
        1, std::min<int64_t>(
               full, c_.target.max_unrolled_memory_vectors / 4 / positions_)));
    if (full > 0) {
      Open(chunk_var_, full, op_.box[plan_.axis].name, unroll);
      forms_.clear();  // the chunk is no position now
      chunks_ = {-1};  // the loop's
      Positions();
      Close(chunk_var_);
    }
    if (extent_ % plan_.lanes != 0) {
      chunks_ = {full};
      Positions();
    }
  }
  if (plan_.axis >= 0) prefetcher_.Emit();
  for (auto i = looped.rbegin(); i != looped.rend(); ++i)
    Close(op_.box[*i].var);
}

void OpEmitter::Open(int var, int64_t extent, const std::string& name,
                     int unroll) {
  LoopValue value;
  value.depth = 1000 + depth_++;
  value.reg = b_.BeginFor(0, extent, 1, unroll, name);
  c_.loops[var] = value;
}

void OpEmitter::Close(int var) {
  b_.EndFor();
  c_.loops.erase(var);
  --depth_;
}

Reg EmitContext::Variable(int buffer, const std::vector<int64_t>& index) {
  auto [found, inserted] =
      variables.emplace(std::make_pair(buffer, index), kNoReg);
  if (inserted)
    found->second = builder.Variable(kernel.buffers[buffer].dtype,
                                     plan.registers.at(buffer).lanes,
                                     kernel.buffers[buffer].name);
  return found->second;
}

Reg EmitContext::EmitScalar(const Expr& expr) {
  return builder.EmitExpr(expr, [&](const Expr& e) {
    TW_CHECK(e.op() == Op::kVar)
        << "a condition of " << kernel.name << " loads: " << e.ToString();
    const LoopValue& value = loops.at(e.var_id());
    return value.reg == kNoReg ? builder.Int(value.constant) : value.reg;
  });
}

Expr EmitContext::BindLoops(const Expr& expr) const {
  Expr bound = Substitute(expr, [&](int var) -> Expr {
    auto found = loops.find(var);
    return found == loops.end() || found->second.reg != kNoReg
               ? Expr()
               : Expr::Int(found->second.constant);
  });
  return Simplify(bound, ranges.ranges());
}

void EmitTileOp(const TileOp& op, EmitContext& context,
                const LoopsAround& around) {
  LegalizeReport& report = context.report;
  const int before = report.gathers;
  OpEmitter(op, context, around).Run();
  report.gathers_at_once =
      std::max(report.gathers_at_once, report.gathers - before);
}

}  // namespace tilewright::lowering
