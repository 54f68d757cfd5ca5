// Copies from arguments into scratch that threads need not wait for at once.
#include <cmath>

#include "backends/lowering/tile/tile_rewrite.h"
#include "backends/lowering/vectorize/tile_op_emitter.h"

namespace tilewright::lowering {

using kernel_ir::AsyncCopyInst;
using kernel_ir::Role;

namespace {

bool IsZero(const Expr& e) {
  if (e.op() != Op::kConst) return false;
  return IsFloat(e.dtype())
             ? e.float_value() == 0 && !std::signbit(e.float_value())
             : e.int_value() == 0;
}

}  // namespace

// A load, or one of some elements and zeros beside it; false for anything else.
bool OpEmitter::CopyAsync() {
  Expr from = body_[0];
  Expr condition;
  if (from.op() == Op::kSelect) {
    const Expr other(from.operand(2));
    if (!IsZero(other)) return false;
    condition = Expr(from.operand(0));
    from = Expr(from.operand(1));
  }
  if (from.op() != Op::kLoad) return false;
  const kernel_ir::Buffer& source = c_.kernel.buffers[from.source()];
  const kernel_ir::Buffer& to = c_.kernel.buffers[op_.dst[0]];
  if (source.dtype != to.dtype || c_.memory[source.id] < 0 ||
      c_.memory[to.id] < 0 ||
      (source.role != Role::kInput && source.role != Role::kConstant))
    return false;
  const Reg mask = condition ? Value(BindPosition(condition)) : kNoReg;
  const auto together = [&](Reg r) {
    return r == kNoReg || b_.type(r).lanes == 1;
  };
  const Expr target = Expr::Load(to.id, to.dtype, dst_index_);
  const bool whole = active_ == lanes_ && together(mask) && together(mask_) &&
                     Place(FormOf(from)).lane == 1 &&
                     Place(FormOf(target)).lane == 1;
  // Fewer bytes are copied at once anyway.
  if (SizeBytes(to.dtype) * (whole ? lanes_ : 1) < 4) return false;
  if (lanes_ == 1 || whole) {
    CopyLanes(from, mask);
    return true;
  }
  PerLane([&](int lane, Reg) {
    CopyLanes(from, together(mask) ? mask : b_.Lane(mask, lane));
  });
  return true;
}

// `mask`: where there is an element. Where the operation is masked, nothing
// happens.
void OpEmitter::CopyLanes(const Expr& from, Reg mask) {
  const int source = from.source();
  const Expr target =
      Expr::Load(op_.dst[0], c_.kernel.buffers[op_.dst[0]].dtype, dst_index_);
  const PlacedAccess to_place = Place(FormOf(target)),
                     from_place = Place(FormOf(from));
  AsyncCopyInst copy;
  copy.to = c_.memory[op_.dst[0]];
  copy.to_offset = OffsetOf(to_place.rest);
  copy.to_constant = to_place.rest.constant;
  copy.from = c_.memory[source];
  copy.from_offset = OffsetOf(from_place.rest);
  copy.from_constant = from_place.rest.constant;
  copy.lanes = lanes_;
  copy.mask = mask;
  if (mask_ != kNoReg) b_.BeginIf(mask_);
  b_.AsyncCopy(copy);
  if (mask_ != kNoReg) b_.EndIf();
}

}  // namespace tilewright::lowering
