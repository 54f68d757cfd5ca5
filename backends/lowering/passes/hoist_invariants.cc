#include "backends/lowering/passes/hoist_invariants.h"

#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tilewright::lowering {

using kernel_ir::ForInst;
using kernel_ir::IfInst;
using kernel_ir::Inst;
using kernel_ir::kNoReg;
using kernel_ir::LoadInst;
using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarKernel;

namespace {

// The registers that a pure instruction sets and reads; false for all others.
struct Pure {
  Reg dst = kNoReg;
  std::vector<Reg> reads;
  bool is_constant = false;
};

template <typename T, typename = void>
struct HasDst : std::false_type {};
template <typename T>
struct HasDst<T, std::void_t<decltype(std::declval<T>().dst)>>
    : std::true_type {};

class Hoister {
 public:
  Hoister(ScalarKernel& kernel, int max_vectors)
      : kernel_(kernel),
        max_vectors_(max_vectors),
        inside_(kernel.regs.size(), 0) {}

  void Body(std::vector<Inst>& body) {
    std::vector<Inst> result;
    result.reserve(body.size());
    for (Inst& inst : body) {
      if (auto* loop = std::get_if<ForInst>(&inst.node)) {
        Body(loop->body);
        std::vector<Inst> before;
        if (Runs(*loop)) Hoist(*loop, before);
        for (Inst& moved : before) result.push_back(std::move(moved));
      } else if (auto* branch = std::get_if<IfInst>(&inst.node)) {
        Body(branch->then_body);
        Body(branch->else_body);
      }
      result.push_back(std::move(inst));
    }
    body = std::move(result);
  }

 private:
  static bool Runs(const ForInst& loop) {
    return loop.begin == kNoReg && loop.end == kNoReg &&
           loop.constant_begin < loop.constant_end;
  }

  void Hoist(ForInst& loop, std::vector<Inst>& before) {
    ++generation_;
    inside_[loop.var] = generation_;
    MarkSet(loop.body);
    int vectors = 0;
    std::vector<Inst> kept;
    kept.reserve(loop.body.size());
    for (Inst& inst : loop.body) {
      Pure pure;
      if (!AsPure(inst, pure) || !Invariant(pure)) {
        kept.push_back(std::move(inst));
        continue;
      }
      // Constants are no burden: backends make them where they are used.
      if (kernel_.regs[pure.dst].lanes > 1 && !pure.is_constant &&
          ++vectors > max_vectors_) {
        kept.push_back(std::move(inst));
        continue;
      }
      inside_[pure.dst] = 0;
      before.push_back(std::move(inst));
    }
    loop.body = std::move(kept);
  }

  bool Invariant(const Pure& pure) const {
    if (pure.dst == kNoReg || kernel_.regs[pure.dst].is_variable) return false;
    for (Reg r : pure.reads) {
      if (r != kNoReg && inside_[r] == generation_) return false;
    }
    return true;
  }

  // Every register that something in `body` sets.
  void MarkSet(const std::vector<Inst>& body) {
    for (const Inst& inst : body) {
      if (const auto* loop = std::get_if<ForInst>(&inst.node)) {
        inside_[loop->var] = generation_;
        MarkSet(loop->body);
      } else if (const auto* branch = std::get_if<IfInst>(&inst.node)) {
        MarkSet(branch->then_body);
        MarkSet(branch->else_body);
      } else {
        std::visit(
            [&](const auto& node) {
              if constexpr (HasDst<std::decay_t<decltype(node)>>::value)
                inside_[node.dst] = generation_;
            },
            inst.node);
      }
    }
  }
  bool AsPure(const Inst& inst, Pure& pure) const {
    using namespace kernel_ir;  // NOLINT: all instructions
    if (const auto* n = std::get_if<ConstInst>(&inst.node))
      pure = {n->dst, {}, true};
    if (const auto* n = std::get_if<OpInst>(&inst.node))
      pure = {n->dst, n->operands};
    if (const auto* n = std::get_if<SplatInst>(&inst.node))
      pure = {n->dst, {n->source}};
    if (const auto* n = std::get_if<FmaInst>(&inst.node))
      pure = {n->dst, {n->a, n->b, n->c}};
    if (const auto* n = std::get_if<ScaleInst>(&inst.node))
      pure = {n->dst, {n->a, n->n}};
    if (const auto* n = std::get_if<LookupInst>(&inst.node))
      pure = {n->dst, {n->source}};
    if (const auto* n = std::get_if<PermuteInst>(&inst.node))
      pure = {n->dst, {n->source, n->table}};
    if (const auto* n = std::get_if<LaneInst>(&inst.node))
      pure = {n->dst, {n->source}};
    if (const auto* n = std::get_if<InsertInst>(&inst.node))
      pure = {n->dst, {n->source, n->value}};
    if (const auto* n = std::get_if<ShuffleInst>(&inst.node))
      pure = {n->dst, {n->a, n->b}};
    if (const auto* n = std::get_if<BitcastInst>(&inst.node))
      pure = {n->dst, {n->source}};
    if (const auto* n = std::get_if<AnyInst>(&inst.node))
      pure = {n->dst, {n->source}};
    if (const auto* n = std::get_if<LoadInst>(&inst.node)) {
      const Role role = kernel_.buffers[n->buffer].role;
      if (n->mask == kNoReg &&
          (role == Role::kInput || role == Role::kConstant))
        pure = {n->dst, {n->offset, n->other}};
    }
    return pure.dst != kNoReg;
  }

  ScalarKernel& kernel_;
  const int max_vectors_;
  std::vector<int> inside_;  // the generation of the loop that sets a register
  int generation_ = 0;
};

}  // namespace

void HoistInvariants(ScalarKernel& kernel, int max_vectors) {
  Hoister(kernel, max_vectors).Body(kernel.body);
}

}  // namespace tilewright::lowering
