// Updates that a dot intrinsic does: one operand is a group of neighbours in
// memory, the same for all lanes; the other holds the groups of the lanes side
// by side.
#include <utility>

#include "backends/lowering/tile/tile_rewrite.h"
#include "backends/lowering/vectorize/tile_op_emitter.h"

namespace tilewright::lowering {

// Decides whether `dot_` does this operation; otherwise its terms are added one
// by one.
void OpEmitter::ChooseDot() {
  const DotIntrinsic* dot = std::exchange(dot_, nullptr);
  if (dot == nullptr || op_.predicate || plan_.axis < 0 || plan_.row >= 0 ||
      plan_.lanes < 4 ||
      plan_.lanes * SizeBytes(dot->acc) > c_.target.vector_bytes)
    return;
  dot_term_ = MatchDotTerm(*op_.combiner, body_[0]);
  if (!dot_term_ || dot_term_->intrinsic != dot) return;
  if (dot->a == dot->b && FormOf(dot_term_->a).lane != 0)
    std::swap(dot_term_->a, dot_term_->b);
  if (IsGrouped(dot_term_->a, 0) && IsGrouped(dot_term_->b, dot->group))
    dot_ = dot;
}

bool OpEmitter::IsGrouped(const Expr& load, int64_t lane_stride) {
  if (c_.memory[load.source()] < 0) return false;
  const AccessForm& form = FormOf(load);
  if (!form.linear || form.lane != lane_stride) return false;
  for (const auto& [var, coefficient] : form.moving) {
    if (var == taps_[0].var) return coefficient == 1;
  }
  return false;
}

// `lanes` elements from the position's first on.
Reg OpEmitter::DotOperand(const Expr& load, int lanes, int active) {
  const PlacedAccess placed = Place(FormOf(load));
  const int buffer = c_.memory[load.source()];
  const Reg offset = OffsetOf(placed.rest);
  if (load.dtype() == DType::kBFloat16)
    return b_.LoadBits(buffer, offset, placed.rest.constant, lanes, active);
  return b_.Load(buffer, offset, placed.rest.constant, lanes, active);
}

void OpEmitter::AddDot(Reg old) {
  const int group = dot_->group;
  const Reg a = DotOperand(dot_term_->a, group, group);
  const Reg b = DotOperand(dot_term_->b, group * lanes_, group * active_);
  const LinearForm place = Place(FormOf(dot_term_->b)).rest;
  prefetcher_.NoteVector(dot_term_->b.source(), place);
  ++c_.report.dots;
  if (b_.type(old).is_variable && MergeMask() == kNoReg) {
    b_.AssignDot(old, a, b);
    return;
  }
  const Reg sum = b_.Variable(dot_->acc, lanes_);
  b_.Assign(sum, old);
  b_.AssignDot(sum, a, b);
  Put(0, sum);
}

}  // namespace tilewright::lowering
