#include "backends/kernel_ir/scalar_ir.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tilewright::kernel_ir {
namespace {

// Abseil's StrCat takes no std::string_view.
template <typename T>
std::string Spell(T named) {
  return std::string(Name(named));
}

class Printer {
 public:
  explicit Printer(const ScalarKernel& kernel) : kernel_(kernel) {}

  std::string Print() {
    absl::StrAppend(&out_, "kernel ", kernel_.name, " tasks ",
                    kernel_.num_tasks);
    if (kernel_.has_threads())
      absl::StrAppend(&out_, " threads ", kernel_.threads, " warp ",
                      kernel_.warp);
    absl::StrAppend(&out_, " scratch ", kernel_.scratch_bytes, "\n");
    for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const ScalarBuffer& b = kernel_.buffers[i];
      absl::StrAppend(&out_, "  buffer ", b.name, "#", i, ": ", Spell(b.dtype),
                      "[", b.elements, "] ", RoleName(b.role));
      if (b.per_thread) {
        out_ += " per thread";
      } else if (b.role == Role::kLocal) {
        absl::StrAppend(&out_, " at ", b.scratch_offset_bytes);
      }
      out_ += "\n";
    }
    absl::StrAppend(&out_, "  ", R(kernel_.task), " = task\n");
    if (kernel_.has_threads())
      absl::StrAppend(&out_, "  ", R(kernel_.thread), " = thread\n");
    Body(kernel_.body, 1);
    return std::move(out_);
  }

 private:
  std::string R(Reg reg) const {
    if (reg == kNoReg) return "none";
    if (reg < 0 || reg >= static_cast<Reg>(kernel_.regs.size()))
      return absl::StrCat("%?", reg);
    const RegType& type = kernel_.regs[reg];
    return absl::StrCat(type.is_variable ? "$" : "%", type.name,
                        type.name.empty() ? "" : ".", reg);
  }
  std::string Define(Reg reg) const {
    if (reg < 0 || reg >= static_cast<Reg>(kernel_.regs.size()))
      return absl::StrCat(R(reg), " = ");
    const RegType& type = kernel_.regs[reg];
    std::string text = absl::StrCat(R(reg), ": ", Spell(type.dtype));
    if (type.lanes != 1) absl::StrAppend(&text, "x", type.lanes);
    return text + " = ";
  }
  std::string Place(int buffer, Reg offset, int64_t constant_offset) const {
    std::string name = absl::StrCat("#", buffer);
    if (buffer >= 0 && buffer < static_cast<int>(kernel_.buffers.size()))
      name = kernel_.buffers[buffer].name + name;
    if (offset == kNoReg) return absl::StrCat(name, "[", constant_offset, "]");
    return constant_offset == 0
               ? absl::StrCat(name, "[", R(offset), "]")
               : absl::StrCat(
                     name, "[", R(offset), constant_offset > 0 ? " + " : " - ",
                     constant_offset > 0 ? constant_offset : -constant_offset,
                     "]");
  }
  static std::string Active(int active) {
    return active == 0 ? "" : absl::StrCat(" active ", active);
  }
  std::string Mask(Reg mask) const {
    return mask == kNoReg ? "" : absl::StrCat(" mask ", R(mask));
  }

  void Line(int depth, const std::string& text) {
    absl::StrAppend(&out_, std::string(2 * depth, ' '), text, "\n");
  }
  void Body(const std::vector<Inst>& body, int depth) {
    for (const Inst& inst : body) {
      std::visit([&](const auto& node) { One(node, depth); }, inst.node);
    }
  }
  void One(const OpInst& n, int depth) {
    std::string text = absl::StrCat(Define(n.dst), Spell(n.op));
    for (size_t i = 0; i < n.operands.size(); ++i)
      absl::StrAppend(&text, i == 0 ? " " : ", ", R(n.operands[i]));
    Line(depth, text);
  }
  void One(const ConstInst& n, int depth) {
    const bool is_float = n.dst >= 0 &&
                          n.dst < static_cast<Reg>(kernel_.regs.size()) &&
                          IsFloat(kernel_.regs[n.dst].dtype);
    Line(depth, is_float ? absl::StrCat(Define(n.dst), n.f)
                         : absl::StrCat(Define(n.dst), n.i));
  }
  void One(const CopyInst& n, int depth) {
    Line(depth, Define(n.dst) + R(n.source));
  }
  void One(const SplatInst& n, int depth) {
    Line(depth, absl::StrCat(Define(n.dst), "splat ", R(n.source)));
  }
  void One(const FmaInst& n, int depth) {
    Line(depth, absl::StrCat(Define(n.dst), "fma ", R(n.a), ", ", R(n.b), ", ",
                             R(n.c)));
  }
  void One(const ScaleInst& n, int depth) {
    Line(depth, absl::StrCat(Define(n.dst), "scale ", R(n.a), ", ", R(n.n)));
  }
  void One(const LookupInst& n, int depth) {
    Line(depth, absl::StrCat(Define(n.dst), "lookup ", R(n.source), " in ",
                             absl::StrJoin(n.values, " ")));
  }
  void One(const PermuteInst& n, int depth) {
    Line(depth, absl::StrCat(Define(n.dst), "permute ", R(n.table), " by ",
                             R(n.source)));
  }
  void One(const DotInst& n, int depth) {
    Line(depth, absl::StrCat(Define(n.dst), R(n.acc), " + dot ", R(n.a), ", ",
                             R(n.b)));
  }
  void One(const LaneInst& n, int depth) {
    Line(depth,
         absl::StrCat(Define(n.dst), "lane ", n.lane, " of ", R(n.source)));
  }
  void One(const InsertInst& n, int depth) {
    Line(depth, absl::StrCat(Define(n.dst), "insert ", R(n.value), " at ",
                             n.lane, " of ", R(n.source)));
  }
  void One(const ShuffleInst& n, int depth) {
    Line(depth, absl::StrCat(Define(n.dst), "shuffle ", R(n.a), ", ", R(n.b),
                             " [", absl::StrJoin(n.lanes, " "), "]"));
  }
  void One(const BitcastInst& n, int depth) {
    Line(depth, absl::StrCat(Define(n.dst), "bits of ", R(n.source)));
  }
  void One(const AnyInst& n, int depth) {
    Line(depth, absl::StrCat(Define(n.dst), "any of ", R(n.source)));
  }
  void One(const LoadInst& n, int depth) {
    std::string text = absl::StrCat(
        Define(n.dst), "load ", Place(n.buffer, n.offset, n.constant_offset),
        Active(n.active), Mask(n.mask));
    if (n.other != kNoReg) absl::StrAppend(&text, " other ", R(n.other));
    Line(depth, text);
  }
  void One(const StoreInst& n, int depth) {
    Line(depth,
         absl::StrCat("store ", Place(n.buffer, n.offset, n.constant_offset),
                      " = ", R(n.value), Active(n.active), Mask(n.mask),
                      n.streaming ? " streaming" : ""));
  }
  void One(const PrefetchInst& n, int depth) {
    Line(depth,
         absl::StrCat("prefetch ", Place(n.buffer, n.offset, n.constant_offset),
                      " level ", n.level));
  }
  void One(const BarrierInst&, int depth) { Line(depth, "barrier"); }
  void One(const ExchangeInst& n, int depth) {
    Line(depth,
         absl::StrCat(Define(n.dst), "exchange ", R(n.source),
                      n.lane == kNoReg ? absl::StrCat(" xor ", n.lane_xor)
                                       : absl::StrCat(" lane ", R(n.lane))));
  }
  void One(const AsyncCopyInst& n, int depth) {
    Line(depth, absl::StrCat("copy x", n.lanes, " ",
                             Place(n.to, n.to_offset, n.to_constant), " = ",
                             Place(n.from, n.from_offset, n.from_constant),
                             Mask(n.mask)));
  }
  void One(const CommitInst&, int depth) { Line(depth, "commit"); }
  void One(const WaitInst& n, int depth) {
    Line(depth, absl::StrCat("wait ", n.pending));
  }
  void One(const ForInst& n, int depth) {
    Line(depth,
         absl::StrCat(
             "for ", R(n.var), " in ",
             n.begin == kNoReg ? absl::StrCat(n.constant_begin) : R(n.begin),
             "..", n.end == kNoReg ? absl::StrCat(n.constant_end) : R(n.end),
             n.step == 1 ? "" : absl::StrCat(" step ", n.step),
             n.unroll == 1 ? "" : absl::StrCat(" unroll ", n.unroll), ":"));
    Body(n.body, depth + 1);
  }
  void One(const IfInst& n, int depth) {
    Line(depth, absl::StrCat("if ", R(n.condition), ":"));
    Body(n.then_body, depth + 1);
    if (n.else_body.empty()) return;
    Line(depth, "else:");
    Body(n.else_body, depth + 1);
  }

  const ScalarKernel& kernel_;
  std::string out_;
};

}  // namespace

DType RegisterType(DType element) {
  return element == DType::kFloat16 || element == DType::kBFloat16
             ? DType::kFloat32
             : element;
}

const DotIntrinsic* DotOf(DType a) {
  for (const DotIntrinsic& dot : DotIntrinsics()) {
    if (a == (dot.a == DType::kBFloat16 ? DType::kUInt16 : dot.a)) return &dot;
  }
  return nullptr;
}

std::string ScalarKernel::ToString() const { return Printer(*this).Print(); }

}  // namespace tilewright::kernel_ir
