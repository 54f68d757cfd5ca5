#include "tilegraph/reference/bytecode_interpreter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tilegraph/expr/interval.h"
#include "tilegraph/reference/bytecode_ops.h"
#include "tilegraph/reference/wide_vectors.h"

namespace tilewright::reference_internal {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

int64_t Evaluate(const AffineForm& form, absl::Span<const int64_t> axes) {
  int64_t value = form.constant;
  for (size_t axis = 0; axis < form.coefficient.size(); ++axis)
    value += form.coefficient[axis] * axes[axis];
  return value;
}

int64_t Step(const AffineForm& form, int strip_axis) {
  return strip_axis < 0 ? 0 : form.coefficient[strip_axis];
}

// The largest finite magnitude of these, in lanes of its own: no element waits
// for the one before it. `most` has kStripLanes elements.
TILEWRIGHT_WIDE_VECTORS
void TakeMagnitudes(const double* values, int count, double* most) {
  for (int l = 0; l < count; ++l) {
    const double size = std::fabs(values[l]);
    const double finite =
        size <= std::numeric_limits<double>::max() ? size : 0.0;
    most[l] = finite > most[l] ? finite : most[l];
  }
}

}  // namespace

BytecodeInterpreter::BytecodeInterpreter(const Bytecode& program,
                                         std::function<SourceData(int)> source)
    : program_(program) {
  const size_t count = program.regs.size();
  floats_.assign(2 * count * kStripLanes, 0.0);
  integers_.assign(count * kStripLanes, 0);
  for (size_t r = 0; r < count; ++r) {
    Lanes lanes;
    if (IsFloat(program.regs[r].dtype)) {
      lanes.v = &floats_[2 * r * kStripLanes];
    } else {
      lanes.i = &integers_[r * kStripLanes];
    }
    lanes.e = &floats_[(2 * r + 1) * kStripLanes];
    regs_.push_back(lanes);
  }
  own_ = regs_;
  for (const BytecodeInst& inst : program.insts)
    sources_.push_back(inst.kind == StripKind::kLoad ? source(inst.source)
                                                     : SourceData());
}

void BytecodeInterpreter::Run(absl::Span<const int64_t> axes, int strip_axis,
                              int lanes, int from_level) {
  const int end = static_cast<int>(program_.insts.size());
  for (int at = program_.level_begin[from_level + 1]; at < end; ++at) {
    const BytecodeInst& inst = program_.insts[at];
    const int active = inst.uniform ? 1 : lanes;
    switch (inst.kind) {
      case StripKind::kConst:
        if (IsFloat(inst.dtype)) {
          regs_[inst.dst].v[0] = inst.f;
        } else {
          regs_[inst.dst].i[0] = inst.i;
        }
        break;
      case StripKind::kAffine:
        RunAffine(inst, axes, strip_axis, active);
        break;
      case StripKind::kLoad:
        RunLoad(inst, axes, strip_axis, active);
        break;
      case StripKind::kSplat:
        RunSplat(inst);
        break;
      case StripKind::kOp:
        RunOp(inst, active);
        break;
    }
    if (track_ && inst.kind != StripKind::kSplat && IsFloat(inst.dtype)) {
      TakeMagnitudes(regs_[inst.dst].v, active, magnitudes_.data());
    }
  }
}

void BytecodeInterpreter::RunAffine(const BytecodeInst& inst,
                                    absl::Span<const int64_t> axes,
                                    int strip_axis, int lanes) {
  const int64_t base = Evaluate(inst.form, axes),
                step = Step(inst.form, strip_axis);
  int64_t* const out = regs_[inst.dst].i;
  for (int l = 0; l < lanes; ++l) out[l] = base + step * l;
}

void BytecodeInterpreter::RunSplat(const BytecodeInst& inst) {
  const Lanes from = regs_[inst.operands[0]], to = regs_[inst.dst];
  if (to.v != nullptr) std::fill_n(to.v, kStripLanes, from.v[0]);
  if (to.i != nullptr) std::fill_n(to.i, kStripLanes, from.i[0]);
  if (!program_.regs[inst.dst].exact) std::fill_n(to.e, kStripLanes, from.e[0]);
}

// Where an index leaves its tensor the lane is NaN (0 for integers): a select
// that guards the load drops it, and one that does not shows.
void BytecodeInterpreter::RunLoad(const BytecodeInst& inst,
                                  absl::Span<const int64_t> axes,
                                  int strip_axis, int lanes) {
  int64_t offset = 0, step = 0;
  int64_t first = 0, last = lanes;  // lanes inside the source
  for (const LoadIndex& index : inst.index) {
    if (!index.affine) return RunGather(inst, axes, strip_axis, lanes);
    const int64_t base = Evaluate(index.form, axes),
                  move = Step(index.form, strip_axis);
    offset += base * index.stride;
    step += move * index.stride;
    if (move == 0 || lanes == 1) {
      if (base < 0 || base >= index.extent) last = 0;
    } else if (move > 0) {
      first =
          std::max(first, -FloorDivide(base, move));  // base + move * l >= 0
      last = std::min(last, FloorDivide(index.extent - 1 - base, move) +
                                1);  // base + move * l < extent
    } else {
      first = std::max(first, -FloorDivide(index.extent - 1 - base, -move));
      last = std::min(last, FloorDivide(base, -move) + 1);
    }
  }
  last = std::max(first, last);
  first = std::min<int64_t>(first, lanes),
  last = std::min<int64_t>(last, lanes);
  const SourceData& source = sources_[&inst - program_.insts.data()];
  const bool exact = program_.regs[inst.dst].exact;
  Lanes& out = regs_[inst.dst];
  out = own_[inst.dst];
  if ((step == 1 || lanes == 1) && first == 0 && last == lanes) {
    // All of it lies side by side: read where it is. Nothing but loads writes
    // to the register of a load.
    if (source.value != nullptr) {
      out.v = const_cast<double*>(source.value) + offset;
    } else {
      out.i = const_cast<int64_t*>(source.integer) + offset;
    }
    if (!exact) out.e = const_cast<double*>(source.bound) + offset;
    return;
  }
  const auto copy = [&](const auto* from, auto* to, auto outside) {
    std::fill(to, to + first, outside);
    if (step == 1) {
      std::copy(from + offset + first, from + offset + last, to + first);
    } else {
      for (int64_t l = first; l < last; ++l) to[l] = from[offset + step * l];
    }
    std::fill(to + last, to + lanes, outside);
  };
  if (source.value != nullptr) {
    copy(source.value, out.v, kNan);
  } else {
    copy(source.integer, out.i, int64_t{0});
  }
  if (!exact) copy(source.bound, out.e, 0.0);
}

void BytecodeInterpreter::RunGather(const BytecodeInst& inst,
                                    absl::Span<const int64_t> axes,
                                    int strip_axis, int lanes) {
  for (int l = 0; l < lanes; ++l) {
    int64_t offset = 0;
    double uncertain = 0;
    for (const LoadIndex& index : inst.index) {
      int64_t at;
      if (index.affine) {
        at = Evaluate(index.form, axes) + Step(index.form, strip_axis) * l;
      } else {
        at = regs_[index.reg].i[l];
        if (!program_.regs[index.reg].exact)
          uncertain = std::max(uncertain, regs_[index.reg].e[l]);
      }
      if (at < 0 || at >= index.extent) {
        offset = -1;
        break;
      }
      offset += at * index.stride;
    }
    Fetch(inst, l, offset);
    // An index that rounding may have changed could have read anything.
    if (uncertain > 0)
      regs_[inst.dst].e[l] = std::numeric_limits<double>::infinity();
  }
}

void BytecodeInterpreter::Fetch(const BytecodeInst& inst, int lane,
                                int64_t offset) {
  const SourceData& source = sources_[&inst - program_.insts.data()];
  const Lanes out = regs_[inst.dst];
  if (source.value != nullptr) {
    out.v[lane] = offset < 0 ? kNan : source.value[offset];
  } else {
    out.i[lane] = offset < 0 ? 0 : source.integer[offset];
  }
  if (!program_.regs[inst.dst].exact)
    out.e[lane] =
        offset < 0 || source.bound == nullptr ? 0 : source.bound[offset];
}

void BytecodeInterpreter::RunOp(const BytecodeInst& inst, int lanes) {
  OpOperands operands;
  for (int k = 0; k < inst.num_operands; ++k) {
    operands.lanes[k] = regs_[inst.operands[k]];
    operands.exact[k] = program_.regs[inst.operands[k]].exact;
  }
  RunBytecodeOp(inst, operands, program_.regs[inst.dst].exact, regs_[inst.dst],
                lanes);
}

}  // namespace tilewright::reference_internal
