#include "backends/kernel_ir/uniformity.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "backends/kernel_ir/operands.h"
#include "base/status_macros.h"

namespace tilewright::kernel_ir::internal {
namespace {

class Divergence {
 public:
  explicit Divergence(const ScalarKernel& kernel)
      : k_(kernel), divergent_(kernel.regs.size(), false) {
    if (k_.has_threads()) divergent_[k_.thread] = true;
    // Until nothing new comes round the loops.
    do {
      changed_ = false;
      Walk(k_.body, false);
    } while (changed_);
  }
  std::vector<bool> Take() && { return std::move(divergent_); }

 private:
  // `parted`: whether threads may be here at different times, or not at all.
  void Walk(const std::vector<Inst>& body, bool parted) {
    for (const Inst& inst : body) {
      const bool differs = Differs(inst);
      if (const auto* loop = std::get_if<ForInst>(&inst.node)) {
        Mark(loop->var, differs);
        Walk(loop->body, parted || differs);
      } else if (const auto* branch = std::get_if<IfInst>(&inst.node)) {
        Walk(branch->then_body, parted || differs);
        Walk(branch->else_body, parted || differs);
      } else if (const Reg dst = Sets(inst); dst != kNoReg) {
        Mark(dst, differs || (parted && k_.regs[dst].is_variable));
      }
    }
  }

  bool Differs(const Inst& inst) const {
    if (const auto* exchange = std::get_if<ExchangeInst>(&inst.node))
      return divergent_[exchange->source];
    if (const auto* load = std::get_if<LoadInst>(&inst.node)) {
      const Role role = k_.buffers[load->buffer].role;
      if (role != Role::kInput && role != Role::kConstant) return true;
    }
    for (Reg reg : Reads(inst)) {
      if (divergent_[reg]) return true;
    }
    return false;
  }

  void Mark(Reg reg, bool differs) {
    if (!differs || divergent_[reg]) return;
    divergent_[reg] = true;
    changed_ = true;
  }

  const ScalarKernel& k_;
  std::vector<bool> divergent_;
  bool changed_ = false;
};

class UniformityVerifier {
 public:
  explicit UniformityVerifier(const ScalarKernel& kernel)
      : k_(kernel), divergent_(DivergentRegs(kernel)) {}

  // `parted_at`: the innermost loop or branch around that threads may take
  // differently; 0: none.
  absl::Status Body(const std::vector<Inst>& body, int parted_at) {
    for (const Inst& inst : body) {
      const int here = ++position_;
      const char* const together = Together(inst);
      if (parted_at != 0 && together != nullptr) {
        return absl::InternalError(absl::StrCat(
            "scalar kernel ", k_.name, ": instruction ", here, ": ", together,
            " where threads may have parted, at instruction ", parted_at));
      }
      int parted = parted_at;
      for (Reg reg : Reads(inst)) {
        if (divergent_[reg]) parted = here;
      }
      if (const auto* loop = std::get_if<ForInst>(&inst.node)) {
        TW_RETURN_IF_ERROR(Body(loop->body, parted));
      } else if (const auto* branch = std::get_if<IfInst>(&inst.node)) {
        TW_RETURN_IF_ERROR(Body(branch->then_body, parted));
        TW_RETURN_IF_ERROR(Body(branch->else_body, parted));
      }
    }
    return absl::OkStatus();
  }

 private:
  // What all threads must reach; null: anything else.
  static const char* Together(const Inst& inst) {
    if (std::holds_alternative<BarrierInst>(inst.node)) return "a barrier";
    if (std::holds_alternative<ExchangeInst>(inst.node)) return "an exchange";
    if (std::holds_alternative<CommitInst>(inst.node)) return "a commit";
    if (std::holds_alternative<WaitInst>(inst.node)) return "a wait";
    return nullptr;
  }

  const ScalarKernel& k_;
  const std::vector<bool> divergent_;
  int position_ = 0;
};

}  // namespace

std::vector<bool> DivergentRegs(const ScalarKernel& kernel) {
  return Divergence(kernel).Take();
}

absl::Status VerifyUniformity(const ScalarKernel& kernel) {
  return UniformityVerifier(kernel).Body(kernel.body, 0);
}

}  // namespace tilewright::kernel_ir::internal
