#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/kernel_ir/instruction_faults.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/uniformity.h"
#include "backends/kernel_ir/verify_declarations.h"
#include "base/status_macros.h"

namespace tilewright::kernel_ir {
namespace {

// Abseil's StrCat takes no std::string_view.
template <typename T>
std::string Spell(T named) {
  return std::string(Name(named));
}

bool IsComparison(Op op) { return op >= Op::kEq && op <= Op::kGe; }

class Verifier {
 public:
  explicit Verifier(const ScalarKernel& kernel) : k_(kernel) {}

  absl::Status Run() {
    TW_RETURN_IF_ERROR(internal::VerifyDeclarations(k_));
    set_.assign(k_.regs.size(), false);
    assigned_.assign(k_.regs.size(), false);
    TW_RETURN_IF_ERROR(DefineIndex(k_.task, "task"));
    if (k_.has_threads()) TW_RETURN_IF_ERROR(DefineIndex(k_.thread, "thread"));
    TW_RETURN_IF_ERROR(Body(k_.body));
    return k_.has_threads() ? internal::VerifyUniformity(k_) : absl::OkStatus();
  }

 private:
  absl::Status Fault(const std::string& what) const {
    return absl::InternalError(absl::StrCat(
        "scalar kernel ", k_.name, ": instruction ", position_, ": ", what));
  }
  std::string R(Reg reg) const {
    const std::string& name = k_.regs[reg].name;
    return absl::StrCat("%", name, name.empty() ? "" : ".", reg);
  }
  std::string T(Reg reg) const {
    return absl::StrCat(Spell(k_.regs[reg].dtype), "x", k_.regs[reg].lanes);
  }
  bool Exists(Reg reg) const {
    return reg >= 0 && reg < static_cast<Reg>(k_.regs.size());
  }

  // Whether it is right by itself.
  template <typename T>
  absl::Status Alone(const T& inst) const {
    const std::string fault = internal::FaultOf(k_, inst);
    return fault.empty() ? absl::OkStatus() : Fault(fault);
  }

  absl::Status Use(Reg reg) const {
    if (!Exists(reg))
      return Fault(absl::StrCat("register ", reg, " does not exist"));
    if (!set_[reg])
      return Fault(
          absl::StrCat("register ", R(reg), " may be read before it is set"));
    return absl::OkStatus();
  }
  absl::Status Use(const std::vector<Reg>& regs) const {
    for (const Reg reg : regs) TW_RETURN_IF_ERROR(Use(reg));
    return absl::OkStatus();
  }
  absl::Status Define(Reg reg, DType dtype, int lanes) {
    if (!Exists(reg))
      return Fault(absl::StrCat("register ", reg, " does not exist"));
    const RegType& type = k_.regs[reg];
    if (type.dtype != dtype || type.lanes != lanes) {
      return Fault(absl::StrCat("register ", R(reg), " is ", T(reg),
                                " but its value is ", Spell(dtype), "x",
                                lanes));
    }
    if (!type.is_variable && assigned_[reg])
      return Fault(absl::StrCat("value ", R(reg), " is assigned twice"));
    assigned_[reg] = true;
    set_[reg] = true;
    return absl::OkStatus();
  }
  absl::Status DefineIndex(Reg reg, const char* what) {
    if (!Exists(reg)) return Fault(absl::StrCat(what, " has no register"));
    const RegType& type = k_.regs[reg];
    if ((type.dtype != DType::kInt64 && type.dtype != DType::kInt32) ||
        type.is_variable) {
      return Fault(absl::StrCat(what, " must be an i64 or i32 value"));
    }
    return Define(reg, type.dtype, 1);
  }
  absl::Status Index(Reg reg) const {
    TW_RETURN_IF_ERROR(Use(reg));
    const RegType& type = k_.regs[reg];
    if (type.lanes != 1 ||
        (type.dtype != DType::kInt64 && type.dtype != DType::kInt32)) {
      return Fault(absl::StrCat("index ", R(reg), " is ", T(reg),
                                ", not a scalar i64 or i32"));
    }
    return absl::OkStatus();
  }

  absl::Status Body(const std::vector<Inst>& body) {
    for (const Inst& inst : body) {
      ++position_;
      TW_RETURN_IF_ERROR(
          std::visit([&](const auto& node) { return One(node); }, inst.node));
    }
    return absl::OkStatus();
  }

  absl::Status One(const OpInst& n) {
    TW_RETURN_IF_ERROR(Use(n.operands));
    if (!Exists(n.dst)) return Fault("no destination");
    TW_RETURN_IF_ERROR(Alone(n));
    const RegType& last = k_.regs[n.operands.back()];
    DType dtype = last.dtype;
    if (n.op == Op::kCast) dtype = k_.regs[n.dst].dtype;
    if (IsComparison(n.op) || n.op == Op::kIsNan) dtype = DType::kBool;
    return Define(n.dst, dtype, last.lanes);
  }
  absl::Status One(const ConstInst& n) {
    if (!Exists(n.dst)) return Fault("no destination");
    return Define(n.dst, k_.regs[n.dst].dtype, k_.regs[n.dst].lanes);
  }
  absl::Status One(const CopyInst& n) {
    TW_RETURN_IF_ERROR(Use(n.source));
    return Define(n.dst, k_.regs[n.source].dtype, k_.regs[n.source].lanes);
  }
  absl::Status One(const SplatInst& n) {
    TW_RETURN_IF_ERROR(Use(n.source));
    if (k_.regs[n.source].lanes != 1)
      return Fault(absl::StrCat("splat of the vector ", R(n.source)));
    if (!Exists(n.dst)) return Fault("no destination");
    return Define(n.dst, k_.regs[n.source].dtype, k_.regs[n.dst].lanes);
  }
  absl::Status One(const FmaInst& n) {
    for (Reg r : {n.a, n.b, n.c}) {
      TW_RETURN_IF_ERROR(Use(r));
      if (k_.regs[r].dtype != k_.regs[n.a].dtype ||
          k_.regs[r].lanes != k_.regs[n.a].lanes ||
          !IsFloat(k_.regs[r].dtype)) {
        return Fault(
            absl::StrCat("fma of ", T(n.a), ", ", T(n.b), ", ", T(n.c)));
      }
    }
    return Define(n.dst, k_.regs[n.a].dtype, k_.regs[n.a].lanes);
  }
  absl::Status One(const ScaleInst& n) {
    TW_RETURN_IF_ERROR(Use({n.a, n.n}));
    const RegType& a = k_.regs[n.a];
    const RegType& exponent = k_.regs[n.n];
    if (a.dtype != exponent.dtype || a.lanes != exponent.lanes ||
        !IsFloat(a.dtype))
      return Fault(absl::StrCat("scale of ", T(n.a), " by ", T(n.n)));
    return Define(n.dst, a.dtype, a.lanes);
  }
  absl::Status One(const LookupInst& n) {
    TW_RETURN_IF_ERROR(Use(n.source));
    const RegType& source = k_.regs[n.source];
    if (source.dtype != DType::kFloat32 || n.values.size() != kLookupValues)
      return Fault(absl::StrCat("lookup of ", T(n.source), " in ",
                                n.values.size(), " values"));
    return Define(n.dst, source.dtype, source.lanes);
  }
  absl::Status One(const PermuteInst& n) {
    TW_RETURN_IF_ERROR(Use({n.source, n.table}));
    TW_RETURN_IF_ERROR(Alone(n));
    return Define(n.dst, k_.regs[n.table].dtype, k_.regs[n.source].lanes);
  }
  absl::Status One(const DotInst& n) {
    TW_RETURN_IF_ERROR(Use({n.acc, n.a, n.b}));
    const DotIntrinsic* dot = DotOf(k_.regs[n.a].dtype);
    const int lanes = k_.regs[n.acc].lanes;
    if (dot == nullptr || k_.regs[n.acc].dtype != dot->acc ||
        k_.regs[n.a].lanes != dot->group ||
        k_.regs[n.b].lanes != dot->group * lanes ||
        k_.regs[n.b].dtype !=
            (dot->b == DType::kBFloat16 ? DType::kUInt16 : dot->b)) {
      return Fault(
          absl::StrCat("dot of ", T(n.a), " and ", T(n.b), " to ", T(n.acc)));
    }
    return Define(n.dst, dot->acc, lanes);
  }
  absl::Status One(const LaneInst& n) {
    TW_RETURN_IF_ERROR(Use(n.source));
    if (n.lane < 0 || n.lane >= k_.regs[n.source].lanes)
      return Fault(absl::StrCat("lane ", n.lane, " of ", T(n.source)));
    return Define(n.dst, k_.regs[n.source].dtype, 1);
  }
  absl::Status One(const InsertInst& n) {
    TW_RETURN_IF_ERROR(Use({n.source, n.value}));
    if (n.lane < 0 || n.lane >= k_.regs[n.source].lanes)
      return Fault(absl::StrCat("lane ", n.lane, " of ", T(n.source)));
    if (k_.regs[n.value].lanes != 1 ||
        k_.regs[n.value].dtype != k_.regs[n.source].dtype) {
      return Fault(
          absl::StrCat("insert of ", T(n.value), " into ", T(n.source)));
    }
    return Define(n.dst, k_.regs[n.source].dtype, k_.regs[n.source].lanes);
  }
  absl::Status One(const ShuffleInst& n) {
    TW_RETURN_IF_ERROR(Use({n.a, n.b}));
    const RegType& a = k_.regs[n.a];
    const RegType& b = k_.regs[n.b];
    if (a.dtype != b.dtype || a.lanes != b.lanes || a.lanes < 2)
      return Fault(absl::StrCat("shuffle of ", T(n.a), " and ", T(n.b)));
    if (n.lanes.size() < 2)
      return Fault(absl::StrCat("shuffle to ", n.lanes.size(), " lanes"));
    for (int lane : n.lanes) {
      if (lane < 0 || lane >= 2 * a.lanes)
        return Fault(absl::StrCat("lane ", lane, " of two ", T(n.a)));
    }
    return Define(n.dst, a.dtype, static_cast<int>(n.lanes.size()));
  }
  absl::Status One(const BitcastInst& n) {
    TW_RETURN_IF_ERROR(Use(n.source));
    if (!Exists(n.dst)) return Fault("no destination");
    const DType to = k_.regs[n.dst].dtype;
    const DType from = k_.regs[n.source].dtype;
    if (to == DType::kBool || from == DType::kBool ||
        SizeBytes(to) != SizeBytes(from)) {
      return Fault(
          absl::StrCat("the bits of ", T(n.source), " as ", Spell(to)));
    }
    return Define(n.dst, to, k_.regs[n.source].lanes);
  }
  absl::Status One(const AnyInst& n) {
    TW_RETURN_IF_ERROR(Use(n.source));
    if (k_.regs[n.source].dtype != DType::kBool)
      return Fault(absl::StrCat("any of ", T(n.source)));
    return Define(n.dst, DType::kBool, 1);
  }

  // Shared by loads and stores of `lanes` elements.
  absl::Status Access(int buffer, Reg offset, int64_t constant_offset,
                      int lanes, int active, Reg mask) const {
    if (buffer < 0 || buffer >= static_cast<int>(k_.buffers.size()))
      return Fault(absl::StrCat("buffer ", buffer, " does not exist"));
    if (active < 0 || active > lanes)
      return Fault(absl::StrCat(active, " active of ", lanes, " lanes"));
    if (mask != kNoReg) {
      TW_RETURN_IF_ERROR(Use(mask));
      if (k_.regs[mask].dtype != DType::kBool ||
          (k_.regs[mask].lanes != lanes && k_.regs[mask].lanes != 1)) {
        return Fault(absl::StrCat("mask ", R(mask), " is ", T(mask), " for ",
                                  lanes, " lanes"));
      }
    }
    if (offset != kNoReg) return Index(offset);
    const int64_t end = constant_offset + (active == 0 ? lanes : active);
    if (mask == kNoReg &&
        (constant_offset < 0 || end > k_.buffers[buffer].elements)) {
      return Fault(absl::StrCat("elements ", constant_offset, "..", end, " of ",
                                k_.buffers[buffer].name, ", which has ",
                                k_.buffers[buffer].elements));
    }
    return absl::OkStatus();
  }
  absl::Status One(const LoadInst& n) {
    if (!Exists(n.dst)) return Fault("no destination");
    const int lanes = k_.regs[n.dst].lanes;
    TW_RETURN_IF_ERROR(
        Access(n.buffer, n.offset, n.constant_offset, lanes, n.active, n.mask));
    const DType element = k_.buffers[n.buffer].dtype;
    const bool bits =
        element == DType::kBFloat16 && k_.regs[n.dst].dtype == DType::kUInt16;
    const DType dtype = bits ? DType::kUInt16 : RegisterType(element);
    if (n.other != kNoReg) {
      TW_RETURN_IF_ERROR(Use(n.other));
      if (k_.regs[n.other].dtype != dtype || k_.regs[n.other].lanes != lanes)
        return Fault(absl::StrCat("other lanes are ", T(n.other)));
    }
    return Define(n.dst, dtype, lanes);
  }
  absl::Status One(const StoreInst& n) {
    TW_RETURN_IF_ERROR(Use(n.value));
    TW_RETURN_IF_ERROR(Access(n.buffer, n.offset, n.constant_offset,
                              k_.regs[n.value].lanes, n.active, n.mask));
    const ScalarBuffer& b = k_.buffers[n.buffer];
    if (b.role == Role::kInput || b.role == Role::kConstant)
      return Fault(absl::StrCat("store to the input ", b.name));
    if (n.streaming && (n.mask != kNoReg || n.active != 0))
      return Fault("streaming store of a part of a vector");
    if (k_.regs[n.value].dtype != RegisterType(b.dtype)) {
      return Fault(absl::StrCat("store of ", T(n.value), " to ", b.name, " of ",
                                Spell(b.dtype)));
    }
    return absl::OkStatus();
  }
  absl::Status One(const PrefetchInst& n) {
    if (n.buffer < 0 || n.buffer >= static_cast<int>(k_.buffers.size()))
      return Fault(absl::StrCat("buffer ", n.buffer, " does not exist"));
    return n.offset == kNoReg ? absl::OkStatus() : Index(n.offset);
  }

  absl::Status Threads(const char* what) const {
    return k_.has_threads() ? absl::OkStatus()
                            : Fault(absl::StrCat(what, " without threads"));
  }
  absl::Status One(const BarrierInst&) const { return Threads("a barrier"); }
  absl::Status One(const CommitInst&) const { return Threads("a commit"); }
  absl::Status One(const ExchangeInst& n) {
    TW_RETURN_IF_ERROR(Use(n.source));
    if (!k_.has_threads() || k_.threads % k_.warp != 0) {
      return Fault(absl::StrCat("an exchange among ", k_.threads,
                                " threads in warps of ", k_.warp));
    }
    if (n.lane != kNoReg) TW_RETURN_IF_ERROR(Index(n.lane));
    if (n.lane_xor < 0 || n.lane_xor >= k_.warp ||
        (n.lane != kNoReg && n.lane_xor != 0)) {
      return Fault(absl::StrCat("an exchange with lane xor ", n.lane_xor,
                                " in warps of ", k_.warp));
    }
    return Define(n.dst, k_.regs[n.source].dtype, k_.regs[n.source].lanes);
  }

  absl::Status One(const AsyncCopyInst& n) const {
    for (const Reg offset : {n.to_offset, n.from_offset}) {
      if (offset != kNoReg) TW_RETURN_IF_ERROR(Index(offset));
    }
    if (n.mask != kNoReg) TW_RETURN_IF_ERROR(Use(n.mask));
    return Alone(n);
  }
  absl::Status One(const WaitInst& n) const {
    return n.pending >= 0 && n.pending <= kMostPending
               ? Threads("a wait")
               : Fault(absl::StrCat("a wait for all but ", n.pending));
  }
  absl::Status One(const ForInst& n) {
    if (n.begin != kNoReg) TW_RETURN_IF_ERROR(Index(n.begin));
    if (n.end != kNoReg) TW_RETURN_IF_ERROR(Index(n.end));
    if (n.step < 1) return Fault(absl::StrCat("a loop with step ", n.step));
    if (n.unroll < 1)
      return Fault(absl::StrCat("a loop with unroll ", n.unroll));
    const std::vector<bool> before = set_;
    TW_RETURN_IF_ERROR(DefineIndex(n.var, "loop"));
    for (Reg r : {n.begin, n.end}) {
      if (r != kNoReg && k_.regs[r].dtype != k_.regs[n.var].dtype)
        return Fault("loop bounds of another dtype than its variable");
    }
    TW_RETURN_IF_ERROR(Body(n.body));
    const bool runs = n.begin == kNoReg && n.end == kNoReg &&
                      n.constant_begin < n.constant_end;
    Leave(before, runs ? set_ : before);
    return absl::OkStatus();
  }
  absl::Status One(const IfInst& n) {
    TW_RETURN_IF_ERROR(Use(n.condition));
    if (k_.regs[n.condition].dtype != DType::kBool ||
        k_.regs[n.condition].lanes != 1) {
      return Fault(absl::StrCat("condition ", R(n.condition), " is ",
                                T(n.condition), ", not a scalar bool"));
    }
    const std::vector<bool> before = set_;
    TW_RETURN_IF_ERROR(Body(n.then_body));
    std::vector<bool> after = set_;
    set_ = before;
    TW_RETURN_IF_ERROR(Body(n.else_body));
    for (size_t i = 0; i < after.size(); ++i) after[i] = after[i] && set_[i];
    Leave(before, after);
    return absl::OkStatus();
  }
  // Values live in their scope only; variables keep what is set on every path.
  void Leave(const std::vector<bool>& before, const std::vector<bool>& after) {
    for (size_t i = 0; i < before.size(); ++i)
      set_[i] = before[i] || (after[i] && k_.regs[i].is_variable);
  }

  const ScalarKernel& k_;
  int position_ = 0;
  std::vector<bool> set_;       // on every path to here
  std::vector<bool> assigned_;  // by some instruction already seen
};

}  // namespace

absl::Status VerifyScalarKernel(const ScalarKernel& kernel) {
  return Verifier(kernel).Run();
}

}  // namespace tilewright::kernel_ir
