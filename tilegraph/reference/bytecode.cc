#include "tilegraph/reference/bytecode.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "tilegraph/expr/rounding_ops.h"

namespace tilewright::reference_internal {
namespace {

struct ExprHash {
  size_t operator()(const Expr& e) const { return e.hash(); }
};

class Compiler {
 public:
  Compiler(const StripLoops& loops,
           const std::function<StripSource(int)>& source, double unit32,
           absl::Span<const StripReg> leaves)
      : loops_(loops), source_(source), unit32_(unit32) {
    program_.regs.assign(leaves.begin(), leaves.end());
    // Leaves hold a value a lane and change at every step.
    levels_.assign(leaves.size(), loops.levels - 1);
  }

  Bytecode Run(absl::Span<const Expr> exprs) {
    for (const Expr& e : exprs) program_.results.push_back(Splat(Compile(e)));
    std::stable_sort(program_.insts.begin(), program_.insts.end(),
                     [](const BytecodeInst& a, const BytecodeInst& b) {
                       return a.level < b.level;
                     });
    for (int level = -1; level <= loops_.levels; ++level) {
      const auto first =
          std::find_if(program_.insts.begin(), program_.insts.end(),
                       [&](const BytecodeInst& i) { return i.level >= level; });
      program_.level_begin.push_back(
          static_cast<int>(first - program_.insts.begin()));
    }
    program_.level_begin.back() = static_cast<int>(program_.insts.size());
    return std::move(program_);
  }

 private:
  int Compile(const Expr& e) {
    if (const auto known = regs_.find(e); known != regs_.end())
      return known->second;
    const int reg = CompileNode(e);
    regs_.emplace(e, reg);
    return reg;
  }

  int CompileNode(const Expr& e) {
    if (e.op() == Op::kLoad) {
      return e.source() >= kRegisterLeaf ? e.source() - kRegisterLeaf
                                         : CompileLoad(e);
    }
    BytecodeInst inst;
    inst.dtype = e.dtype();
    if (e.op() == Op::kConst) {
      inst.kind = StripKind::kConst;
      if (IsFloat(e.dtype())) {
        inst.f = e.float_value();
      } else {
        inst.i = e.int_value();
      }
      return Append(std::move(inst), /*exact=*/true, /*uniform=*/true, -1);
    }
    if (std::optional<AffineForm> form = Affine(e)) {
      inst.kind = StripKind::kAffine;
      inst.form = *std::move(form);
      return Append(inst, /*exact=*/true, IsUniform(inst.form),
                    Level(inst.form));
    }
    return CompileOp(e, std::move(inst));
  }

  int CompileOp(const Expr& e, BytecodeInst inst) {
    inst.kind = StripKind::kOp;
    inst.op = e.op();
    inst.operand_dtype = e.operands().back().dtype();
    bool exact = true, uniform = true;
    int level = -1;
    for (const Expr& operand : e.operands()) {
      const int reg = Compile(operand);
      inst.operands[inst.num_operands++] = reg;
      exact = exact && program_.regs[reg].exact;
      uniform = uniform && program_.regs[reg].uniform;
      level = std::max(level, levels_[reg]);
    }
    if (!uniform) {
      for (int i = 0; i < inst.num_operands; ++i)
        inst.operands[i] = Splat(inst.operands[i]);
    }
    if (IsFloat(e.dtype())) {
      inst.unit = Unit(e.dtype());
      // Widening is exact, also from small integers.
      bool rounds = !IsExactOp(e.op());
      if (e.op() == Op::kCast)
        rounds = !(IsFloat(inst.operand_dtype) &&
                   SizeBytes(inst.operand_dtype) <= SizeBytes(e.dtype()));
      if (e.op() == Op::kCast && rounds) inst.unit = CastUnit(e.dtype());
      if (rounds && unit32_ > 0) exact = false;
    }
    if (unit32_ == 0) exact = true;
    return Append(std::move(inst), exact, uniform, level);
  }

  int CompileLoad(const Expr& e) {
    const StripSource source = source_(e.source());
    BytecodeInst inst;
    inst.kind = StripKind::kLoad;
    inst.dtype = source.dtype;
    inst.source = e.source();
    TW_CHECK_EQ(e.operands().size(), source.shape.size()) << e.ToString();
    bool uniform = true, exact = source.exact;
    int level = -1;
    int64_t stride = 1;
    inst.index.resize(source.shape.size());
    for (int d = static_cast<int>(source.shape.size()) - 1; d >= 0; --d) {
      LoadIndex& index = inst.index[d];
      index.extent = source.shape[d];
      index.stride = stride;
      stride *= source.shape[d];
      if (std::optional<AffineForm> form = Affine(e.operand(d))) {
        index.affine = true;
        index.form = *std::move(form);
        uniform = uniform && IsUniform(index.form);
        level = std::max(level, Level(index.form));
      } else {
        index.reg = Compile(e.operand(d));
        uniform = uniform && program_.regs[index.reg].uniform;
        exact = exact && program_.regs[index.reg].exact;
        level = std::max(level, levels_[index.reg]);
      }
    }
    if (!uniform) {
      for (LoadIndex& index : inst.index) {
        if (!index.affine) index.reg = Splat(index.reg);
      }
    }
    return Append(std::move(inst), exact, uniform, level);
  }

  // The same value in every lane.
  int Splat(int reg) {
    if (!program_.regs[reg].uniform) return reg;
    if (const auto known = splats_.find(reg); known != splats_.end())
      return known->second;
    BytecodeInst inst;
    inst.kind = StripKind::kSplat;
    inst.dtype = program_.regs[reg].dtype;
    inst.operands[0] = reg;
    inst.num_operands = 1;
    return splats_[reg] = Append(std::move(inst), program_.regs[reg].exact,
                                 /*uniform=*/false, levels_[reg]);
  }

  std::optional<AffineForm> Affine(const Expr& e) {
    if (e.dtype() != DType::kInt64) return std::nullopt;
    AffineForm form;
    form.coefficient.assign(loops_.position.size(), 0);
    return AddAffine(e, 1, form) ? std::optional<AffineForm>(std::move(form))
                                 : std::nullopt;
  }

  bool AddAffine(const Expr& e, int64_t scale, AffineForm& form) {
    switch (e.op()) {
      case Op::kConst:
        form.constant += scale * e.int_value();
        return true;
      case Op::kVar:
        form.coefficient[e.var_id()] += scale;
        return true;
      case Op::kNeg:
        return AddAffine(e.operand(0), -scale, form);
      case Op::kAdd:
        return AddAffine(e.operand(0), scale, form) &&
               AddAffine(e.operand(1), scale, form);
      case Op::kSub:
        return AddAffine(e.operand(0), scale, form) &&
               AddAffine(e.operand(1), -scale, form);
      case Op::kMul:
        for (int i = 0; i < 2; ++i) {
          if (e.operand(i).op() == Op::kConst)
            return AddAffine(e.operand(1 - i), scale * e.operand(i).int_value(),
                             form);
        }
        return false;
      default:
        return false;
    }
  }

  bool IsUniform(const AffineForm& form) const {
    return loops_.strip_axis < 0 || form.coefficient[loops_.strip_axis] == 0;
  }
  int Level(const AffineForm& form) const {
    int level = -1;
    for (size_t axis = 0; axis < form.coefficient.size(); ++axis) {
      if (form.coefficient[axis] != 0)
        level = std::max(level, loops_.position[axis]);
    }
    return level;
  }

  // fp16 and bf16 compute in fp32.
  double Unit(DType dtype) const {
    return dtype == DType::kFloat64 && unit32_ > 0 ? 0x1p-53 : unit32_;
  }
  double CastUnit(DType dtype) const {
    if (unit32_ == 0) return 0;
    if (dtype == DType::kFloat16) return 0x1p-11;
    if (dtype == DType::kBFloat16) return 0x1p-8;
    return dtype == DType::kFloat64 ? 0x1p-53 : 0x1p-24;
  }

  int Append(BytecodeInst inst, bool exact, bool uniform, int level) {
    inst.dst = static_cast<int>(program_.regs.size());
    inst.uniform = uniform;
    inst.level = level;
    program_.regs.push_back({inst.dtype, exact, uniform});
    levels_.push_back(level);
    program_.insts.push_back(std::move(inst));
    return program_.insts.back().dst;
  }

  const StripLoops& loops_;
  const std::function<StripSource(int)>& source_;
  const double unit32_;
  Bytecode program_;
  std::vector<int> levels_;  // by register
  std::unordered_map<Expr, int, ExprHash> regs_;
  std::unordered_map<int, int> splats_;
};

}  // namespace

Bytecode CompileBytecode(absl::Span<const Expr> exprs, const StripLoops& loops,
                         const std::function<StripSource(int)>& source,
                         double unit32, absl::Span<const StripReg> leaves) {
  return Compiler(loops, source, unit32, leaves).Run(exprs);
}

}  // namespace tilewright::reference_internal
