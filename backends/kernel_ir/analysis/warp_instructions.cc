#include "backends/kernel_ir/analysis/warp_instructions.h"

#include <algorithm>
#include <cstddef>
#include <variant>

#include "backends/kernel_ir/analysis/thread_walk.h"
#include "backends/kernel_ir/operands.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/op.h"

namespace tilewright::kernel_ir {
namespace {

template <typename... Insts>
bool IsAny(const Inst& inst) {
  return (std::holds_alternative<Insts>(inst.node) || ...);
}

class Counter : public ThreadVisitor {
 public:
  explicit Counter(const ScalarKernel& kernel) : kernel_(kernel) {}

  void Visit(const Inst& inst, const Active& active, double times) override {
    const Reg dst = Sets(inst);
    // Loads are accesses, or stay in the registers of their thread.
    if (dst == kNoReg ||
        IsAny<CopyInst, ConstInst, SplatInst, LaneInst, InsertInst, ShuffleInst,
              BitcastInst, LoadInst, ForInst>(inst))
      return;
    const RegType& type = kernel_.regs[static_cast<size_t>(dst)];
    double each = 1;
    if (const auto* op = std::get_if<OpInst>(&inst.node))
      each = IsFloat(type.dtype) && (op->op == Op::kDiv || op->op == Op::kSqrt)
                 ? kDivisionInstructions
                 : 1;
    instructions_ += times * ActiveWarps(active) * each * type.lanes;
  }

  void Access(const ThreadAccess& access, double times) override {
    double warps = 0;
    for (size_t first = 0; first < access.first.size(); first += kWarpLanes) {
      const size_t end = std::min(first + kWarpLanes, access.first.size());
      warps += std::any_of(
          access.first.begin() + static_cast<int64_t>(first),
          access.first.begin() + static_cast<int64_t>(end),
          [](int64_t element) { return element != ThreadAccess::kIdle; });
    }
    instructions_ += times * warps * access.lanes / access.piece;
  }

  double instructions() const { return instructions_; }

 private:
  const ScalarKernel& kernel_;
  double instructions_ = 0;
};

}  // namespace

double WarpInstructions(const ScalarKernel& kernel, int64_t task) {
  Counter counter(kernel);
  WalkThreads(kernel, task, /*most_turns=*/1, counter);
  return counter.instructions();
}

}  // namespace tilewright::kernel_ir
