// Loads at one position: broadcasts, vectors, blocks, gathers, and registers;
// where each access goes.
#include <algorithm>
#include <utility>

#include "backends/lowering/tile/tile_rewrite.h"
#include "backends/lowering/vectorize/byte_table.h"
#include "backends/lowering/vectorize/tile_op_emitter.h"
#include "base/check.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::lowering {

const AccessForm& OpEmitter::FormOf(const Expr& load) {
  auto [found, inserted] = forms_.emplace(load, AccessForm());
  AccessForm& form = found->second;
  if (!inserted) return form;
  form.buffer = load.source();
  form.in_bounds = IsInBounds(load);
  form.offset = c_.kernel.buffers[load.source()].layout.Offset(load.operands());
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
        if (e.op() != Op::kVar) return;
        if (IsPosition(e.var_id())) form.even = false;
        if (e.var_id() == lane_var_ || IsPosition(e.var_id()))
          form.linear = false;
      });
      form.rest.terms.emplace_back(term, coefficient);
    }
  }
  if (form.even && !form.linear) FindLanes(form);
  return form;
}

void OpEmitter::FindLanes(AccessForm& form) {
  LinearForm here = form.rest;
  if (form.lane != 0)
    here.terms.emplace_back(Expr::Var(lane_var_, "lane"), form.lane);
  const Expr offset = here.ToExpr();
  const auto distances =
      LaneDistances(offset, lane_var_, plan_.lanes, ranges());
  if (!distances) return;
  form.distances = *distances;
  form.first = ToLinear(
      Substitute(
          offset,
          [&](int var) { return var == lane_var_ ? Expr::Int(0) : Expr(); }),
      ranges());
}

bool OpEmitter::IsPosition(int var) const {
  if (var == chunk_var_) return c_.loops.find(chunk_var_) == c_.loops.end();
  for (size_t i = 0; i < op_.box.size(); ++i) {
    if (op_.box[i].var == var) return unrolled_[i];
  }
  for (const kernel_ir::TileAxis& tap : taps_) {
    if (tap.var == var) return true;
  }
  return false;
}

PlacedAccess OpEmitter::Place(const AccessForm& form) {
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
        if (term->first.op() != Op::kVar || term->first.var_id() != chunk_var_)
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
Reg OpEmitter::OffsetOf(const LinearForm& form) {
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

// `mask`: where it is loaded at all; elsewhere the lanes are `other`.
Reg OpEmitter::LoadValue(const Expr& load, Reg mask, Reg other) {
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
    if (mask == kNoReg) prefetcher_.NoteScalar(load.source(), placed.rest);
    return b_.Load(buffer, OffsetOf(placed.rest), placed.rest.constant, 1, 0,
                   mask, widened(1));
  }
  if (placed.lane == 1) {
    if (mask == kNoReg) prefetcher_.NoteVector(load.source(), placed.rest);
    return b_.Load(buffer, OffsetOf(placed.rest), placed.rest.constant, lanes_,
                   active_, mask, widened(lanes_));
  }
  Reg value = kNoReg;
  if (!MayChange(load.source())) {
    value = LoadWithinVector(load, mask);
    if (value == kNoReg) value = LoadFromBlock(load, mask);
    if (value == kNoReg) value = LoadAtByte(load, mask);
    if (value == kNoReg) value = LoadLanes(load, mask);
  }
  if (value == kNoReg) value = Gather(load, mask);
  return other == kNoReg || mask == kNoReg ? value
                                           : b_.Select(mask, value, other);
}

// kNoReg unless a byte of each lane says which of a table's it is.
Reg OpEmitter::LoadAtByte(const Expr& load, Reg mask) {
  const std::optional<Expr> byte =
      c_.target.permutes_bytes
          ? ByteOfTable(c_.kernel, load.source(), load.operands())
          : std::nullopt;
  if (!byte) return kNoReg;
  const Reg outer = mask_;
  mask_ = mask;
  const Reg source = Value(*byte);
  mask_ = outer;
  if (b_.type(source).lanes != lanes_) return kNoReg;
  const Reg table = b_.Load(c_.memory[load.source()], kNoReg, 0,
                            kernel_ir::kPermuteBytes, 0, kNoReg, kNoReg);
  return b_.Permute(source, table);
}

// Lane by lane.
Reg OpEmitter::Gather(const Expr& load, Reg mask) {
  ++c_.report.gathers;
  const DType dtype =
      kernel_ir::RegisterType(c_.kernel.buffers[load.source()].dtype);
  Reg gathered =
      IsFloat(dtype) ? b_.Float(0, dtype, lanes_) : b_.Int(0, dtype, lanes_);
  const Reg outer = mask_;
  mask_ = mask;
  PerLane([&](int lane, Reg lane_mask) {
    gathered = b_.Insert(gathered, lane, LoadValue(load, lane_mask, kNoReg));
  });
  mask_ = outer;
  return gathered;
}

// The logical index with the vectorised dimension counted in chunks; the lane
// along it, or -1 if all lanes run along it.
std::vector<int64_t> OpEmitter::RegisterIndex(int buffer,
                                              absl::Span<const Expr> index,
                                              int* lane) {
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

std::pair<Reg, int> OpEmitter::RegisterAt(int buffer,
                                          absl::Span<const Expr> index) {
  int lane = -1;
  std::vector<int64_t> key = RegisterIndex(buffer, index, &lane);
  if (c_.plan.registers.at(buffer).lanes == 1) lane = -1;
  return {c_.Variable(buffer, key), lane};
}

}  // namespace tilewright::lowering
