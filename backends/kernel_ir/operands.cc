#include "backends/kernel_ir/operands.h"

#include <type_traits>
#include <variant>

namespace tilewright::kernel_ir {
namespace {

std::vector<Reg> AllReads(const OpInst& n) { return n.operands; }
std::vector<Reg> AllReads(const ConstInst&) { return {}; }
std::vector<Reg> AllReads(const CopyInst& n) { return {n.source}; }
std::vector<Reg> AllReads(const SplatInst& n) { return {n.source}; }
std::vector<Reg> AllReads(const FmaInst& n) { return {n.a, n.b, n.c}; }
std::vector<Reg> AllReads(const ScaleInst& n) { return {n.a, n.n}; }
std::vector<Reg> AllReads(const LookupInst& n) { return {n.source}; }
std::vector<Reg> AllReads(const PermuteInst& n) { return {n.source, n.table}; }
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
std::vector<Reg> AllReads(const PrefetchInst& n) { return {n.offset}; }
std::vector<Reg> AllReads(const BarrierInst&) { return {}; }
std::vector<Reg> AllReads(const ExchangeInst& n) { return {n.source, n.lane}; }
std::vector<Reg> AllReads(const AsyncCopyInst& n) {
  return {n.to_offset, n.from_offset, n.mask};
}
std::vector<Reg> AllReads(const CommitInst&) { return {}; }
std::vector<Reg> AllReads(const WaitInst&) { return {}; }
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
                             std::is_same_v<Node, BarrierInst> ||
                             std::is_same_v<Node, AsyncCopyInst> ||
                             std::is_same_v<Node, CommitInst> ||
                             std::is_same_v<Node, WaitInst> ||
                             std::is_same_v<Node, IfInst>) {
          return kNoReg;
        } else {
          return n.dst;
        }
      },
      inst.node);
}

}  // namespace tilewright::kernel_ir
