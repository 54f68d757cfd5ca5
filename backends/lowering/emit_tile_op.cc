#include "backends/lowering/emit_tile_op.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "backends/lowering/tile_rewrite.h"
#include "base/check.h"
#include "tilegraph/interval.h"

namespace tilewright::lowering {

using kernel_ir::Buffer;
using kernel_ir::kNoReg;
using kernel_ir::Reg;
using kernel_ir::ScalarBuilder;
using kernel_ir::TileAxis;
using kernel_ir::TileOp;

namespace {

// Vectors laid out in a row by operations that keep nothing in registers:
// enough to overlap, small code.
constexpr int64_t kUnrolledMemoryVectors = 16;
constexpr int64_t kLineBytes = 64;
// Stand for the accumulator and the new element in a combiner's expression.
constexpr int kAccumulator = -1, kElement = -101;

struct ExprHash {
  size_t operator()(const Expr& e) const { return e.hash(); }
};

// Where an access goes, as far as it is the same for all positions of the
// operation.
struct AccessForm {
  int buffer;
  bool in_bounds = false;  // whatever the guards say
  bool linear = true;      // positions and lane occur in plain terms only
  LinearForm rest;         // neither position nor lane
  std::vector<std::pair<int, int64_t>>
      moving;  // position variable, coefficient
  int64_t lane = 0;
  Expr offset;  // what all this came from
};

// An access at one position.
struct PlacedAccess {
  LinearForm rest;
  std::optional<int64_t> lane;  // coefficient; nullopt: not linear
};

class OpEmitter {
 public:
  OpEmitter(const TileOp& op, EmitContext& context)
      : op_(op),
        c_(context),
        b_(context.builder),
        plan_(context.plan.ops.at(&op)),
        lane_var_(c_.ranges.lane_var()),
        chunk_var_(c_.ranges.chunk_var()) {}

  void Run() {
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

 private:
  // --- What is the same for all positions.

  // Sorts the conditions; false if nothing is ever done.
  bool Predicates(std::vector<Expr>& scalar) {
    if (!op_.predicate) return true;
    for (const Expr& condition : Conjuncts(op_.predicate)) {
      Expr bound = c_.BindLoops(condition);
      if (bound.IsIntConst(0)) return false;
      if (bound.IsIntConst(1)) continue;
      const bool element = std::any_of(
          op_.box.begin(), op_.box.end(),
          [&](const TileAxis& a) { return Mentions(bound, a.var); });
      (element ? element_conditions_ : scalar).push_back(bound);
    }
    return true;
  }

  RangeOf ranges() const {
    return c_.ranges.ranges((extent_ + plan_.lanes - 1) / plan_.lanes,
                            std::min<int64_t>(extent_, plan_.lanes));
  }

  Expr BindOp(const Expr& e) {
    Expr bound = c_.BindLoops(e);
    return plan_.axis < 0
               ? bound
               : Simplify(SplitLane(bound, axis_var_, plan_.lanes, c_.ranges),
                          ranges());
  }

  void Prepare() {
    ChooseUnrolled();
    for (Expr& condition : element_conditions_) condition = BindOp(condition);
    for (const Expr& body : op_.body) {
      const Expr bound = c_.BindLoops(body);
      Visit(bound, [&](const Expr& e) {
        if (e.op() == Op::kLoad) in_bounds_[BindOp(e)] = InBounds(e);
      });
      body_.push_back(BindOp(bound));
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
    }
  }

  bool InBounds(const Expr& load) const {
    const Layout& layout = c_.kernel.buffers[load.source()].layout;
    for (size_t d = 0; d < load.operands().size(); ++d) {
      std::optional<Range> range =
          RangeOfExpr(load.operand(d), c_.ranges.ranges());
      if (!range || range->min < -layout.pad_before()[d] ||
          range->max >= layout.shape()[d] + layout.pad_after()[d])
        return false;
    }
    return true;
  }

  // Axes whose positions are laid out in a row; the others become loops around
  // them.
  void ChooseUnrolled() {
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
      if (c_.plan.constant_vars.count(op_.box[i].var) == 0) continue;
      unrolled_[i] = registers = true;
      product *= Steps(i);
    }
    const int64_t limit =
        registers ? c_.target.max_unrolled_vectors
                  : std::min<int64_t>(c_.target.max_unrolled_vectors,
                                      kUnrolledMemoryVectors);
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

  // --- The loops and positions.

  void Loops() {
    std::vector<int> looped;
    for (size_t i = 0; i < op_.box.size(); ++i) {
      if (!unrolled_[i] && static_cast<int>(i) != plan_.axis)
        looped.push_back(static_cast<int>(i));
    }
    for (int i : looped)
      Open(op_.box[i].var, op_.box[i].extent, op_.box[i].name);
    if (plan_.axis < 0 || unrolled_[plan_.axis]) {
      for (int64_t chunk = 0; chunk * plan_.lanes < extent_; ++chunk)
        chunks_.push_back(chunk);
      Positions(0);
    } else {
      const int64_t full = extent_ / plan_.lanes;
      const int unroll = static_cast<int>(std::max<int64_t>(
          1, std::min<int64_t>(full, kUnrolledMemoryVectors / 4 / positions_)));
      Open(chunk_var_, full, op_.box[plan_.axis].name, unroll);
      chunks_ = {-1};  // the loop's
      Positions(0);
      Close(chunk_var_);
      if (extent_ % plan_.lanes != 0) {
        chunks_ = {full};
        Positions(0);
      }
    }
    PrefetchNext();
    for (auto i = looped.rbegin(); i != looped.rend(); ++i)
      Close(op_.box[*i].var);
  }

  void Open(int var, int64_t extent, const std::string& name, int unroll = 1) {
    LoopValue value;
    value.depth = 1000 + depth_++;
    value.reg = b_.BeginFor(0, extent, 1, unroll, name);
    c_.loops[var] = value;
  }
  void Close(int var) {
    b_.EndFor();
    c_.loops.erase(var);
    --depth_;
  }

  // The positions of the axes in `order_` from number `at` on.
  void Positions(size_t at) {
    if (at == order_.size()) {
      Position();
      return;
    }
    const int axis = order_[at];
    if (axis == plan_.axis || axis < 0) {
      for (int64_t chunk : chunks_) {
        lanes_ = plan_.lanes;
        active_ = chunk < 0 ? plan_.lanes
                            : static_cast<int>(std::min<int64_t>(
                                  plan_.lanes, extent_ - chunk * plan_.lanes));
        if (chunk >= 0) at_[chunk_var_] = chunk;
        Positions(at + 1);
        at_.erase(chunk_var_);
      }
      return;
    }
    for (int64_t i = 0; i < op_.box[axis].extent; ++i) {
      at_[op_.box[axis].var] = i;
      Positions(at + 1);
    }
    at_.erase(op_.box[axis].var);
  }

  // The order in which the fewest loaded values wait for their next use: with
  // accumulators for all positions in registers, what waits is spilled. A load
  // that an axis does not change waits through that axis, once for each
  // position of the axes inside that do change it.
  void ChooseOrder() {
    for (size_t i = 0; i < op_.box.size(); ++i) {
      if (unrolled_[i] && static_cast<int>(i) != plan_.axis)
        order_.push_back(static_cast<int>(i));
    }
    order_.push_back(plan_.axis);  // -1 for no vector axis: one position
    if (order_.size() > 6 || op_.phase == TileOp::Phase::kInit ||
        plan_.axis < 0 || !unrolled_[plan_.axis])
      return;
    std::vector<Expr> loads;
    for (const Expr& body : op_.body) {
      Visit(body, [&](const Expr& e) {
        if (e.op() == Op::kLoad && c_.memory[e.source()] >= 0)
          loads.push_back(e);
      });
    }
    auto waiting = [&](const std::vector<int>& order) {
      int64_t total = 0;
      for (const Expr& load : loads) {
        int64_t values = 1;
        bool shared = false;
        for (int axis : order) {
          if (Steps(axis) == 1) continue;
          if (!Mentions(load, op_.box[axis].var)) {
            shared = true;
          } else if (shared) {
            values *= Steps(axis);
          }
        }
        total += values;
      }
      return total;
    };
    std::vector<int> candidate = order_, positions(order_.size());
    for (size_t i = 0; i < positions.size(); ++i)
      positions[i] = static_cast<int>(i);
    const std::vector<int> original = order_;
    int64_t best = waiting(order_);
    while (std::next_permutation(positions.begin(), positions.end())) {
      for (size_t i = 0; i < positions.size(); ++i)
        candidate[i] = original[positions[i]];
      const int64_t total = waiting(candidate);
      if (total < best) {
        best = total;
        order_ = candidate;
      }
    }
  }
  int64_t Steps(int axis) const {
    return axis == plan_.axis
               ? (op_.box[axis].extent + plan_.lanes - 1) / plan_.lanes
               : op_.box[axis].extent;
  }

  // --- One position: one vector of every destination.

  void Position() {
    known_.clear();
    mask_ = kNoReg;
    for (const Expr& condition : element_conditions_) {
      const Expr bound = BindPosition(condition);
      if (bound.IsIntConst(0)) return;
      if (!bound.IsIntConst(1)) mask_ = And(mask_, Value(bound));
    }
    const int n = static_cast<int>(op_.dst.size());
    std::vector<Reg> values(n);
    if (op_.phase != TileOp::Phase::kUpdate) {
      for (int i = 0; i < n; ++i) Put(i, Value(body_[i]));
      return;
    }
    std::vector<Reg> old(n);
    for (int i = 0; i < n; ++i) old[i] = Get(i);
    if (n == 1 && op_.combiner->kind() == Combiner::Kind::kSum &&
        Accumulate(old[0]))
      return;
    std::vector<Reg> body;
    for (const Expr& e : body_) body.push_back(Value(e));
    for (int i = 0; i < n; ++i) {
      values[i] = b_.EmitExpr(combine_[i], [&](const Expr& e) {
        return e.source() > kElement ? old[kAccumulator - e.source()]
                                     : body[kElement - e.source()];
      });
    }
    if (n > 1) {
      for (Reg& value : values) value = Detached(value);
    }
    for (int i = 0; i < n; ++i) Put(i, values[i]);
  }

  // Sums: a product is added with one rounding; false if this is no case for
  // it.
  bool Accumulate(Reg old) {
    Expr body = body_[0];
    while (body.op() == Op::kCast &&
           kernel_ir::RegisterType(body.dtype()) ==
               kernel_ir::RegisterType(body.operand(0).dtype())) {
      body = Expr(body.operand(0));
    }
    const bool fma =
        c_.target.fma && body.op() == Op::kMul && IsFloat(body.dtype());
    const bool whole = b_.type(old).is_variable && MergeMask() == kNoReg;
    if (fma) {
      const Reg x = Value(body.operand(0)), y = Value(body.operand(1));
      if (whole) {
        b_.AssignFma(old, x, y, old);
      } else {
        Put(0, b_.Fma(x, y, old));
      }
      return true;
    }
    if (!whole) return false;
    b_.AssignOp(old, Op::kAdd, {old, Value(body_[0])});
    return true;
  }

  // A value that does not change when a variable is assigned.
  Reg Detached(Reg value) {
    if (!b_.type(value).is_variable) return value;
    const Reg copy = b_.Variable(b_.type(value).dtype, b_.type(value).lanes);
    b_.Assign(copy, value);
    return copy;
  }

  // The destination's present value.
  Reg Get(int component) {
    const Expr load =
        Expr::Load(op_.dst[component],
                   c_.kernel.buffers[op_.dst[component]].dtype, dst_index_);
    return LoadValue(load, mask_, kNoReg);
  }

  void Put(int component, Reg value) {
    const Buffer& buffer = c_.kernel.buffers[op_.dst[component]];
    value = b_.Cast(buffer.dtype, value);
    if (c_.memory[buffer.id] < 0) {
      const Reg variable = RegisterAt(buffer.id, dst_index_).first;
      const Reg merge = MergeMask();
      if (merge != kNoReg) value = b_.Select(merge, value, variable);
      if (value != variable) b_.Assign(variable, value);
      return;
    }
    const Expr access = Expr::Load(buffer.id, buffer.dtype, dst_index_);
    const PlacedAccess placed = Place(FormOf(access));
    if (lanes_ == 1 || placed.lane == 1 || active_ == 1) {
      const Reg offset = OffsetOf(placed.rest);
      b_.Store(c_.memory[buffer.id], offset, placed.rest.constant,
               b_.type(value).lanes == lanes_ ? value : b_.Splat(value, lanes_),
               active_, mask_);
      return;
    }
    PerLane([&](int lane, Reg vector_mask) {
      const PlacedAccess one = Place(FormOf(access));
      const Reg offset = OffsetOf(one.rest);
      const Reg element =
          b_.type(value).lanes == 1 ? value : b_.Lane(value, lane);
      b_.Store(c_.memory[buffer.id], offset, one.rest.constant, element, 0,
               vector_mask);
    });
  }

  // The lanes that may be written in a register variable; kNoReg: all that hold
  // anything.
  Reg MergeMask() {
    const Reg merge = mask_;
    const bool merged =
        std::any_of(op_.dst.begin(), op_.dst.end(),
                    [&](int dst) { return c_.plan.merged.count(dst) > 0; });
    if (!merged || active_ == lanes_) return merge;
    const auto plan = c_.plan.registers.find(op_.dst[0]);
    const int64_t shape =
        c_.kernel.buffers[op_.dst[0]].layout.shape()[plan->second.dim];
    const int64_t first =
        RegisterIndex(op_.dst[0], dst_index_)[plan->second.dim] * lanes_;
    if (std::min<int64_t>(lanes_, shape - first) <= active_) return merge;
    return And(merge, b_.Emit(Op::kLt, {Iota(), b_.Int(active_)}));
  }

  // --- Prefetching: a buffer too large for the cache is read in shares, one
  // per iteration of a task loop, and each share by all iterations of a task
  // loop inside. Every one of these brings its part of the next share closer,
  // evenly over its steps: memory is slower than a core that asks for all at
  // once.

  void PrefetchNext() {
    if (c_.target.prefetch_above_bytes == 0 ||
        op_.phase != TileOp::Phase::kUpdate || plan_.axis < 0)
      return;
    for (const auto& [buffer, reads] : vector_reads_) {
      const kernel_ir::Buffer& b = c_.kernel.buffers[buffer];
      const LinearForm& first = reads.begin()->second;
      const int64_t bytes = SizeBytes(b.dtype);
      if (b.layout.physical_elements() * bytes <=
          c_.target.prefetch_above_bytes)
        continue;
      // The innermost task loop that moves the reads, and the next one inside
      // it, which does not.
      const LoopValue *share = nullptr, *reader = nullptr;
      int64_t share_elements = 0;
      int reader_var = -1;
      for (const auto& [var, value] : c_.loops) {
        if (value.task_extent <= 1) continue;
        const bool moves = std::any_of(
            first.terms.begin(), first.terms.end(),
            [v = var](const auto& t) { return Mentions(t.first, v); });
        if (moves && (share == nullptr || value.depth > share->depth)) {
          share = &value;
          share_elements = first.CoefficientOf(var);
        }
        if (!moves && (reader == nullptr || value.depth > reader->depth)) {
          reader = &value;
          reader_var = var;
        }
      }
      if (share == nullptr || reader == nullptr || share_elements <= 0 ||
          reader->depth < share->depth)
        continue;
      // Each step of the innermost loop reads the neighbours of what the step
      // before read, in whole cache lines.
      const int64_t line = kLineBytes / bytes;
      std::set<int64_t> lines;
      for (const auto& [constant, form] : reads)
        lines.insert(FloorDivide(constant, line));
      const int64_t n = static_cast<int64_t>(lines.size());
      int step_var = -1, depth = -1;
      for (const auto& [var, value] : c_.loops) {
        if (value.reg != kNoReg && value.depth > depth)
          step_var = var, depth = value.depth;
      }
      if (*lines.rbegin() - *lines.begin() != n - 1 ||
          first.CoefficientOf(step_var) != n * line)
        continue;
      const int64_t per_step =
          (n * line + reader->task_extent - 1) / reader->task_extent;
      LinearForm next;
      next.constant = reads.begin()->first + share_elements;
      for (const auto& [term, coefficient] : first.terms) {
        const bool step = term.op() == Op::kVar && term.var_id() == step_var;
        next.terms.emplace_back(term, step ? per_step : coefficient);
      }
      next.terms.emplace_back(Expr::Var(reader_var, "reader"),
                              per_step * c_.ranges.extent(step_var));
      at_.clear();
      known_.clear();
      const Reg offset = OffsetOf(next);
      for (int64_t i = 0; i < per_step; i += line)
        b_.Prefetch(c_.memory[buffer], offset, next.constant + i, 1);
    }
  }

  // --- Values.

  Reg Value(const Expr& e) {
    if (e.op() == Op::kConst)
      return IsFloat(e.dtype()) ? b_.Float(e.float_value(), e.dtype())
                                : b_.Int(e.int_value(), e.dtype());
    auto found = known_.find(e);
    if (found != known_.end()) return found->second;
    Reg value = Compute(e);
    known_[e] = value;
    return value;
  }

  Reg Compute(const Expr& e) {
    if ((e.dtype() == DType::kInt64 || e.dtype() == DType::kBool) &&
        e.op() != Op::kVar && e.op() != Op::kLoad && !HoldsLoad(e)) {
      const Expr bound = BindPosition(e);
      if (bound.op() == Op::kConst)
        return b_.Int(bound.int_value(), bound.dtype());
      if (bound != e) return Value(bound);
    }
    switch (e.op()) {
      case Op::kVar:
        return Variable(e.var_id());
      case Op::kLoad:
        return LoadValue(e, mask_, kNoReg);
      case Op::kCast:
        return b_.Cast(e.dtype(), Value(e.operand(0)));
      case Op::kSelect:
        return SelectValue(e);
      default: {
        std::vector<Reg> operands;
        for (const Expr& operand : e.operands())
          operands.push_back(Value(operand));
        return b_.Emit(e.op(), std::move(operands));
      }
    }
  }

  Reg SelectValue(const Expr& e) {
    const Expr condition =
        HoldsLoad(e.operand(0)) ? e.operand(0) : BindPosition(e.operand(0));
    if (condition.IsIntConst(1)) return Value(e.operand(1));
    if (condition.IsIntConst(0)) return Value(e.operand(2));
    const Reg test = Value(condition);
    // What stands in a branch is loaded only where the branch is taken.
    const bool guards_then = NeedsGuard(e.operand(1)),
               guards_else = NeedsGuard(e.operand(2));
    const Reg outer = mask_;
    if (e.operand(1).op() == Op::kLoad && guards_then &&
        !IsInBounds(e.operand(1)) && e.operand(2).op() == Op::kConst) {
      const Reg other = Value(e.operand(2));
      mask_ = And(outer, test);
      const Reg value = LoadValue(e.operand(1), mask_, other);
      mask_ = outer;
      return value;
    }
    Reg a = Branch(e.operand(1), guards_then, outer, test);
    Reg b = Branch(e.operand(2), guards_else, outer,
                   guards_else ? b_.Emit(Op::kNot, {test}) : test);
    mask_ = outer;
    return b_.Select(test, a, b);
  }
  Reg Branch(const Expr& e, bool guarded, Reg outer, Reg test) {
    if (!guarded) {
      mask_ = outer;
      return Value(e);
    }
    std::unordered_map<Expr, Reg, ExprHash> outside = known_;
    mask_ = And(outer, test);
    const Reg value = Value(e);
    known_ = std::move(outside);
    mask_ = outer;
    return value;
  }

  bool NeedsGuard(const Expr& e) {
    bool needs = false;
    Visit(e, [&](const Expr& x) {
      needs = needs || (x.op() == Op::kLoad && c_.memory[x.source()] >= 0 &&
                        !IsInBounds(x));
    });
    return needs;
  }
  bool IsInBounds(const Expr& load) const {
    auto found = in_bounds_.find(load);
    return found != in_bounds_.end() && found->second;
  }
  bool HoldsLoad(const Expr& e) {
    auto found = holds_load_.find(e);
    if (found != holds_load_.end()) return found->second;
    bool holds = e.op() == Op::kLoad;
    for (const Expr& operand : e.operands())
      holds = holds || HoldsLoad(operand);
    holds_load_[e] = holds;
    return holds;
  }

  Reg Variable(int var) {
    if (var == lane_var_) return lane_ ? b_.Int(*lane_) : Iota();
    auto at = at_.find(var);
    if (at != at_.end()) return b_.Int(at->second);
    auto loop = c_.loops.find(var);
    TW_CHECK(loop != c_.loops.end())
        << "variable " << var << " is out of scope in " << c_.kernel.name;
    return loop->second.reg == kNoReg ? b_.Int(loop->second.constant)
                                      : loop->second.reg;
  }

  Reg Iota() {
    Reg iota = b_.Int(0, DType::kInt64, lanes_);
    for (int i = 1; i < lanes_; ++i) iota = b_.Insert(iota, i, b_.Int(i));
    return iota;
  }

  Reg And(Reg a, Reg b) { return a == kNoReg ? b : b_.And(a, b); }

  // The position's constants put in; simplified under what the lanes can be.
  Expr BindPosition(const Expr& e) const {
    Expr bound = Substitute(e, [&](int var) -> Expr {
      if (var == lane_var_ && lane_) return Expr::Int(*lane_);
      auto at = at_.find(var);
      return at == at_.end() ? Expr() : Expr::Int(at->second);
    });
    return Simplify(
        bound,
        c_.ranges.ranges((extent_ + plan_.lanes - 1) / plan_.lanes, active_));
  }

  // --- Accesses.

  const AccessForm& FormOf(const Expr& load) {
    auto [found, inserted] = forms_.emplace(load, AccessForm());
    AccessForm& form = found->second;
    if (!inserted) return form;
    form.buffer = load.source();
    form.in_bounds = IsInBounds(load);
    form.offset =
        c_.kernel.buffers[load.source()].layout.Offset(load.operands());
    LinearForm offset = ToLinear(form.offset, ranges());
    form.offset = offset.ToExpr();
    form.rest.constant = offset.constant;
    for (const auto& [term, coefficient] : offset.terms) {
      if (term.op() == Op::kVar && term.var_id() == lane_var_) {
        form.lane = coefficient;
      } else if (term.op() == Op::kVar && IsPosition(term.var_id())) {
        form.moving.emplace_back(term.var_id(), coefficient);
      } else {
        Visit(term, [&](const Expr& e) {
          if (e.op() == Op::kVar &&
              (e.var_id() == lane_var_ || IsPosition(e.var_id())))
            form.linear = false;
        });
        form.rest.terms.emplace_back(term, coefficient);
      }
    }
    return form;
  }
  bool IsPosition(int var) const {
    if (var == chunk_var_) return c_.loops.find(chunk_var_) == c_.loops.end();
    for (size_t i = 0; i < op_.box.size(); ++i) {
      if (op_.box[i].var == var) return unrolled_[i];
    }
    return false;
  }

  PlacedAccess Place(const AccessForm& form) {
    PlacedAccess placed;
    const bool chunk_is_fixed = at_.count(chunk_var_) > 0;
    if (form.linear) {
      placed.rest = form.rest;
      placed.lane = form.lane;
      for (const auto& [var, coefficient] : form.moving)
        placed.rest.constant += coefficient * at_.at(var);
      if (chunk_is_fixed && !form.rest.terms.empty()) {
        // The tail of a chunk loop: the chunk stands among the terms.
        for (auto term = placed.rest.terms.begin();
             term != placed.rest.terms.end(); ++term) {
          if (term->first.op() != Op::kVar ||
              term->first.var_id() != chunk_var_)
            continue;
          placed.rest.constant += term->second * at_.at(chunk_var_);
          placed.rest.terms.erase(term);
          break;
        }
      }
    } else {
      LinearForm offset = ToLinear(
          BindPosition(form.offset),
          c_.ranges.ranges((extent_ + plan_.lanes - 1) / plan_.lanes, active_));
      placed.rest.constant = offset.constant;
      placed.lane = 0;
      for (const auto& [term, coefficient] : offset.terms) {
        if (term.op() == Op::kVar && term.var_id() == lane_var_) {
          if (placed.lane) placed.lane = coefficient;
        } else {
          if (Mentions(term, lane_var_)) placed.lane = std::nullopt;
          placed.rest.terms.emplace_back(term, coefficient);
        }
      }
    }
    if (lane_ && placed.lane) placed.rest.constant += *placed.lane * *lane_;
    return placed;
  }

  // The sum of the terms, those of outer loops first; kNoReg if there are none.
  Reg OffsetOf(const LinearForm& form) {
    std::vector<std::pair<int, size_t>> order;
    for (size_t i = 0; i < form.terms.size(); ++i) {
      int depth = 0;
      Visit(form.terms[i].first, [&](const Expr& e) {
        if (e.op() == Op::kLoad) depth = 100000;
        if (e.op() != Op::kVar) return;
        auto loop = c_.loops.find(e.var_id());
        if (loop != c_.loops.end()) depth = std::max(depth, loop->second.depth);
      });
      order.emplace_back(depth, i);
    }
    std::sort(order.begin(), order.end());
    Reg sum = kNoReg;
    for (const auto& [depth, i] : order) {
      Reg term = Value(form.terms[i].first);
      if (form.terms[i].second != 1)
        term = b_.Mul(term, b_.Int(form.terms[i].second));
      sum = sum == kNoReg ? term : b_.Add(sum, term);
    }
    return sum;
  }

  // Lane by lane: `fn` sees scalars.
  template <typename Fn>
  void PerLane(const Fn& fn) {
    const int lanes = lanes_, active = active_;
    const Reg mask = mask_;
    std::unordered_map<Expr, Reg, ExprHash> outside = std::move(known_);
    for (int lane = 0; lane < active; ++lane) {
      known_.clear();
      lanes_ = active_ = 1;
      lane_ = lane;
      mask_ = mask == kNoReg || b_.type(mask).lanes == 1 ? mask
                                                         : b_.Lane(mask, lane);
      fn(lane, mask_);
    }
    lane_.reset();
    lanes_ = lanes;
    active_ = active;
    mask_ = mask;
    known_ = std::move(outside);
  }

  // `mask`: where it is loaded at all; elsewhere the lanes are `other`.
  Reg LoadValue(const Expr& load, Reg mask, Reg other) {
    if (c_.memory[load.source()] < 0) {
      auto [variable, lane] = RegisterAt(load.source(), load.operands());
      return lane < 0 ? variable : b_.Lane(variable, lane);
    }
    const AccessForm& form = FormOf(load);
    if (form.in_bounds) mask = kNoReg;
    const PlacedAccess placed = Place(form);
    const int buffer = c_.memory[load.source()];
    auto widened = [&](int lanes) {
      if (other == kNoReg || mask == kNoReg) return kNoReg;
      return b_.type(other).lanes == lanes ? other : b_.Splat(other, lanes);
    };
    if (lanes_ == 1 || placed.lane == 0) {
      if (mask != kNoReg && b_.type(mask).lanes > 1) {
        // Where any lane needs the element, it exists.
        const Reg any = b_.Any(mask);
        const Reg value = b_.Load(buffer, OffsetOf(placed.rest),
                                  placed.rest.constant, 1, 0, any, kNoReg);
        return other == kNoReg ? value : b_.Select(mask, value, other);
      }
      return b_.Load(buffer, OffsetOf(placed.rest), placed.rest.constant, 1, 0,
                     mask, widened(1));
    }
    if (placed.lane == 1) {
      if (mask == kNoReg)
        vector_reads_[load.source()].emplace(placed.rest.constant, placed.rest);
      return b_.Load(buffer, OffsetOf(placed.rest), placed.rest.constant,
                     lanes_, active_, mask, widened(lanes_));
    }
    ++c_.report.gathers;
    const DType dtype =
        kernel_ir::RegisterType(c_.kernel.buffers[load.source()].dtype);
    const int lanes = lanes_;
    Reg gathered =
        IsFloat(dtype) ? b_.Float(0, dtype, lanes) : b_.Int(0, dtype, lanes);
    const Reg outer = mask_;
    mask_ = mask;
    PerLane([&](int lane, Reg lane_mask) {
      gathered = b_.Insert(gathered, lane, LoadValue(load, lane_mask, kNoReg));
    });
    mask_ = outer;
    return other == kNoReg || mask == kNoReg ? gathered
                                             : b_.Select(mask, gathered, other);
  }

  // --- Register buffers.

  // The logical index with the vectorised dimension counted in chunks; the lane
  // along it, or -1 if all lanes run along it.
  std::vector<int64_t> RegisterIndex(int buffer, absl::Span<const Expr> index,
                                     int* lane = nullptr) {
    const RegisterPlan& plan = c_.plan.registers.at(buffer);
    std::vector<int64_t> key;
    if (lane != nullptr) *lane = -1;
    for (size_t d = 0; d < index.size(); ++d) {
      LinearForm form = ToLinear(BindPosition(index[d]), ranges());
      const bool vector =
          form.CoefficientOf(lane_var_) == 1 && static_cast<int>(d) == plan.dim;
      TW_CHECK_EQ(form.terms.size(), vector ? 1u : 0u)
          << "register buffer " << c_.kernel.buffers[buffer].name << " at "
          << index[d].ToString();
      int64_t value = form.constant;
      if (static_cast<int>(d) == plan.dim) {
        if (!vector && lane != nullptr)
          *lane = static_cast<int>(value % plan.lanes);
        value /= plan.lanes;
      }
      key.push_back(value);
    }
    return key;
  }
  std::pair<Reg, int> RegisterAt(int buffer, absl::Span<const Expr> index) {
    int lane = -1;
    std::vector<int64_t> key = RegisterIndex(buffer, index, &lane);
    if (c_.plan.registers.at(buffer).lanes == 1) lane = -1;
    return {c_.Variable(buffer, key), lane};
  }

  const TileOp& op_;
  EmitContext& c_;
  ScalarBuilder& b_;
  const OpPlan plan_;
  const int lane_var_, chunk_var_;
  int axis_var_ = -1;
  int64_t extent_ = 1;  // of the vector axis

  std::vector<Expr> element_conditions_, body_, dst_index_, combine_;
  std::vector<bool> unrolled_;
  std::vector<int> order_;  // of the unrolled axes, outermost first; the vector
                            // axis, or -1, among them
  int64_t positions_ = 1;
  int depth_ = 0;
  std::vector<int64_t> chunks_;
  std::unordered_map<Expr, bool, ExprHash> in_bounds_, holds_load_;
  std::unordered_map<Expr, AccessForm, ExprHash> forms_;

  // Buffer -> constant offset -> the whole offset, of the vectors read so far.
  std::map<int, std::map<int64_t, LinearForm>> vector_reads_;

  // The current position.
  std::map<int, int64_t> at_;
  int lanes_ = 1, active_ = 1;
  std::optional<int64_t> lane_;  // set while lanes are done one by one
  Reg mask_ = kNoReg;
  std::unordered_map<Expr, Reg, ExprHash> known_;
};

}  // namespace

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

void EmitTileOp(const TileOp& op, EmitContext& context) {
  OpEmitter(op, context).Run();
}

}  // namespace tilewright::lowering
