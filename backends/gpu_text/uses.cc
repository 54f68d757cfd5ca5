#include "backends/gpu_text/uses.h"

#include <type_traits>
#include <variant>

namespace tilewright::gpu_text {

using namespace kernel_ir;  // NOLINT: its instructions are what is looked at

namespace {

std::vector<Reg> AllReads(const OpInst& n) { return n.operands; }
std::vector<Reg> AllReads(const ConstInst&) { return {}; }
std::vector<Reg> AllReads(const CopyInst& n) { return {n.source}; }
std::vector<Reg> AllReads(const SplatInst& n) { return {n.source}; }
std::vector<Reg> AllReads(const FmaInst& n) { return {n.a, n.b, n.c}; }
std::vector<Reg> AllReads(const ScaleInst& n) { return {n.a, n.n}; }
std::vector<Reg> AllReads(const LookupInst& n) { return {n.source}; }
std::vector<Reg> AllReads(const DotInst& n) { return {n.acc, n.a, n.b}; }
std::vector<Reg> AllReads(const LaneInst& n) { return {n.source}; }
std::vector<Reg> AllReads(const InsertInst& n) { return {n.source, n.value}; }
std::vector<Reg> AllReads(const ShuffleInst& n) { return {n.a, n.b}; }
std::vector<Reg> AllReads(const BitcastInst& n) { return {n.source}; }
std::vector<Reg> AllReads(const AnyInst& n) { return {n.source}; }
std::vector<Reg> AllReads(const LoadInst& n) {
  return {n.offset, n.mask, n.other};
}
std::vector<Reg> AllReads(const StoreInst& n) {
  return {n.offset, n.value, n.mask};
}
std::vector<Reg> AllReads(const PrefetchInst&) { return {}; }  // not printed
std::vector<Reg> AllReads(const ForInst& n) { return {n.begin, n.end}; }
std::vector<Reg> AllReads(const IfInst& n) { return {n.condition}; }

}  // namespace

std::vector<Reg> Reads(const Inst& inst) {
  std::vector<Reg> reads;
  for (Reg reg :
       std::visit([](const auto& n) { return AllReads(n); }, inst.node)) {
    if (reg != kNoReg) reads.push_back(reg);
  }
  return reads;
}

Reg Sets(const Inst& inst) {
  return std::visit(
      [](const auto& n) -> Reg {
        using Node = std::decay_t<decltype(n)>;
        if constexpr (std::is_same_v<Node, ForInst>) {
          return n.var;
        } else if constexpr (std::is_same_v<Node, StoreInst> ||
                             std::is_same_v<Node, PrefetchInst> ||
                             std::is_same_v<Node, IfInst>) {
          return kNoReg;
        } else {
          return n.dst;
        }
      },
      inst.node);
}

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
