// One position of a tile operation: values go to registers or memory;
// reductions combine them with what is there.
#include <algorithm>
#include <utility>

#include "backends/lowering/vectorize/tile_op_emitter.h"

namespace tilewright::lowering {

using kernel_ir::Buffer;
using kernel_ir::TileOp;

void OpEmitter::Position() {
  known_.clear();
  mask_ = kNoReg;
  for (const Expr& condition : element_conditions_) {
    const Expr bound = BindPosition(condition);
    if (bound.IsIntConst(0)) return;
    if (!bound.IsIntConst(1)) mask_ = And(mask_, Value(bound));
  }
  const int n = static_cast<int>(op_.dst.size());
  if (op_.async && CopyAsync()) return;
  if (op_.phase != TileOp::Phase::kUpdate) {
    for (int i = 0; i < n; ++i) Put(i, Value(body_[i]));
    return;
  }
  std::vector<Reg> old(n);
  for (int i = 0; i < n; ++i) old[i] = Get(i);
  if (dot_ != nullptr) return AddDot(old[0]);
  if (n == 1 && op_.combiner->kind() == Combiner::Kind::kSum &&
      joins_ == nullptr && Accumulate(old[0]))
    return;
  std::vector<Reg> body;
  if (joins_ != nullptr) {
    body = JoinLanes();
  } else {
    for (const Expr& e : body_) body.push_back(Value(e));
  }
  std::vector<Reg> values = Combine(old, body);
  if (n > 1) {
    for (Reg& value : values) value = Detached(value);
  }
  for (int i = 0; i < n; ++i) Put(i, values[i]);
}

std::vector<Reg> OpEmitter::Combine(const std::vector<Reg>& a,
                                    const std::vector<Reg>& b) {
  std::vector<Reg> values;
  for (const Expr& component : combine_) {
    values.push_back(b_.EmitExpr(component, [&](const Expr& e) {
      return e.source() > kElement ? a[kAccumulator - e.source()]
                                   : b[kElement - e.source()];
    }));
  }
  return values;
}

// Combines as scalars what the joined loop would combine: neighbouring vectors
// are joined until one is left, then its halves until one lane is.
std::vector<Reg> OpEmitter::JoinLanes() {
  const int lanes = c_.plan.registers.at(body_[0].source()).lanes;
  std::vector<std::vector<Reg>> tuples;  // by vector, then by component
  for (int64_t i = 0; i < c_.ranges.extent(joins_->var); i += lanes) {
    at_[joins_->var] = i;
    tuples.emplace_back();
    for (const Expr& body : body_)
      tuples.back().push_back(RegisterAt(body.source(), body.operands()).first);
  }
  at_.erase(joins_->var);
  while (tuples.size() > 1) {
    std::vector<std::vector<Reg>> joined;
    for (size_t i = 0; i + 1 < tuples.size(); i += 2)
      joined.push_back(Combine(tuples[i], tuples[i + 1]));
    if (tuples.size() % 2 != 0) joined.push_back(std::move(tuples.back()));
    tuples = std::move(joined);
  }
  std::vector<Reg> tuple = std::move(tuples[0]);
  for (int width = lanes / 2; width >= 1; width /= 2) {
    std::vector<int> low(width), high(width);
    for (int i = 0; i < width; ++i) low[i] = i, high[i] = width + i;
    std::vector<Reg> a, b;
    for (const Reg component : tuple) {
      a.push_back(b_.Shuffle(component, component, low));
      b.push_back(b_.Shuffle(component, component, high));
    }
    tuple = Combine(a, b);
  }
  ++c_.report.lane_reductions;
  return tuple;
}

// Sums: a product is added with one rounding; false if this is no case for
// it.
bool OpEmitter::Accumulate(Reg old) {
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
Reg OpEmitter::Detached(Reg value) {
  if (!b_.type(value).is_variable) return value;
  const Reg copy = b_.Variable(b_.type(value).dtype, b_.type(value).lanes);
  b_.Assign(copy, value);
  return copy;
}

// The destination's present value.
Reg OpEmitter::Get(int component) {
  const Expr load =
      Expr::Load(op_.dst[component],
                 c_.kernel.buffers[op_.dst[component]].dtype, dst_index_);
  return LoadValue(load, mask_, kNoReg);
}

void OpEmitter::Put(int component, Reg value) {
  const Buffer& buffer = c_.kernel.buffers[op_.dst[component]];
  value = b_.Cast(buffer.dtype, value);
  if (c_.memory[buffer.id] < 0) {
    const auto [variable, lane] = RegisterAt(buffer.id, dst_index_);
    const Reg merge = MergeMask();
    if (plan_.axis < 0 && lane >= 0) {
      value = b_.Insert(variable, lane, value);
    } else if (merge != kNoReg) {
      value = b_.Select(merge, value, variable);
    }
    if (value != variable) b_.Assign(variable, value);
    return;
  }
  const Expr access = Expr::Load(buffer.id, buffer.dtype, dst_index_);
  const PlacedAccess placed = Place(FormOf(access));
  if (lanes_ == 1 || placed.lane == 1 || active_ == 1) {
    const Reg offset = OffsetOf(placed.rest);
    b_.Store(c_.memory[buffer.id], offset, placed.rest.constant, Whole(value),
             active_, mask_);
    return;
  }
  if (StoreInBlock(component, value) || StoreLanes(component, value)) return;
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
Reg OpEmitter::MergeMask() {
  const Reg merge = mask_;
  // Some of several components may lie in memory.
  const auto merged =
      std::find_if(op_.dst.begin(), op_.dst.end(), [&](int dst) {
        return c_.plan.merged.count(dst) > 0 &&
               c_.plan.registers.count(dst) > 0;
      });
  if (merged == op_.dst.end() || active_ == lanes_) return merge;
  const int dim = c_.plan.registers.at(*merged).dim;
  const int64_t shape = c_.kernel.buffers[*merged].layout.shape()[dim];
  const int64_t first = RegisterIndex(*merged, dst_index_)[dim] * lanes_;
  if (std::min<int64_t>(lanes_, shape - first) <= active_) return merge;
  return And(merge, b_.Emit(Op::kLt, {Iota(), b_.Int(active_)}));
}

}  // namespace tilewright::lowering
