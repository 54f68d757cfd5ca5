#include "backends/gpu_text/uses.h"

#include <variant>

#include "backends/kernel_ir/operands.h"

namespace tilewright::gpu_text {

using namespace kernel_ir;  // NOLINT: its instructions are what is looked at

Uses::Uses(const ScalarKernel& kernel)
    : kernel_(kernel),
      reads_(kernel.regs.size(), 0),
      set_in_(kernel.regs.size(), nullptr),
      read_in_(kernel.regs.size(), nullptr),
      declared_(kernel.regs.size()) {
  Walk(kernel.body);
  for (Reg reg = 0; reg < static_cast<Reg>(declared_.size()); ++reg) {
    if (declared_[reg].empty()) continue;
    const Position& at = declared_[reg].back();
    declared_at_[&(*at.body)[at.index]].push_back(reg);
  }
}

void Uses::Walk(const Body& body) {
  for (size_t i = 0; i < body.size(); ++i) {
    const Inst& inst = body[i];
    if (std::holds_alternative<PrefetchInst>(inst.node)) continue;  // no text
    if (const auto* load = std::get_if<LoadInst>(&inst.node))
      loaded_.insert(load->buffer);
    path_.push_back({&body, i});
    for (Reg reg : Reads(inst)) {
      ++reads_[reg];
      read_in_[reg] = &body;
      Mention(reg);
    }
    if (const Reg reg = Sets(inst); reg != kNoReg) {
      set_in_[reg] = &body;
      Mention(reg);
    }
    if (const auto* loop = std::get_if<ForInst>(&inst.node)) Walk(loop->body);
    if (const auto* branch = std::get_if<IfInst>(&inst.node)) {
      Walk(branch->then_body);
      Walk(branch->else_body);
    }
    path_.pop_back();
  }
}

// Keeps the path to the first mention as far as it leads to the bodies of all
// others.
void Uses::Mention(Reg reg) {
  if (!kernel_.regs[reg].is_variable) return;
  std::vector<Position>& path = declared_[reg];
  if (path.empty()) {
    path = path_;
    return;
  }
  size_t common = 0;
  while (common < path.size() && common < path_.size() &&
         path[common].body == path_[common].body) {
    ++common;
    // Another instruction of this body: it is the innermost.
    if (path[common - 1].index != path_[common - 1].index) break;
  }
  path.resize(common);
}

const std::vector<Reg>& Uses::DeclaredAt(const Inst* inst) const {
  static const auto& none = *new std::vector<Reg>;
  const auto at = declared_at_.find(inst);
  return at == declared_at_.end() ? none : at->second;
}

}  // namespace tilewright::gpu_text
