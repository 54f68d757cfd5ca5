#include "bench/gpu/block_work.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "backends/kernel_ir/analysis/thread_walk.h"
#include "backends/kernel_ir/operands.h"
#include "compiler/kernels/memory_requests.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright {
namespace {

using namespace kernel_ir;  // NOLINT: its instructions are what is counted

class Counter : public ThreadVisitor {
 public:
  Counter(const ScalarKernel& kernel, const Banks& banks, int64_t sector_bytes)
      : kernel_(kernel),
        banks_(banks),
        sector_bytes_(sector_bytes),
        loaded_(kernel.regs.size()),
        kept_(kernel.buffers.size()) {}

  BlockWork Count() {
    WalkThreads(kernel_, /*task=*/0, /*most_turns=*/1, *this);
    EndStretch(1);
    return work_;
  }

  void Visit(const Inst& inst, const Active& active, double times) override {
    UseLoaded(inst);
    if (const auto* fma = std::get_if<FmaInst>(&inst.node)) {
      const RegType& type = kernel_.regs[fma->dst];
      ++fmas_seen_;
      if (type.dtype == DType::kFloat32)
        work_.warp_fmas += times * ActiveWarps(active) * type.lanes;
    }
    if (std::holds_alternative<BarrierInst>(inst.node)) EndStretch(times);
    const Reg dst = Sets(inst);
    if (dst == kNoReg || std::holds_alternative<CopyInst>(inst.node)) return;
    loaded_[dst].reset();
    const auto* load = std::get_if<LoadInst>(&inst.node);
    if (load == nullptr) return;
    const ScalarBuffer& buffer = kernel_.buffers[load->buffer];
    if (buffer.per_thread) {
      loaded_[dst] = kept_[load->buffer];
    } else if (buffer.role != Role::kLocal) {
      loaded_[dst] = fmas_seen_;
    }
  }

  void Access(const ThreadAccess& access, double times) override {
    const bool shared = kernel_.buffers[access.buffer].role == Role::kLocal;
    ThreadAccess joined = access;
    // The parts of a lane lie in the same sectors.
    if (!shared) joined.piece = joined.lanes;
    ForWarps(kernel_, joined, [&](const WarpAccess& warp) {
      if (!shared) {
        work_.sectors +=
            times * static_cast<double>(Sectors(warp, sector_bytes_));
        return;
      }
      work_.shared_turns +=
          times * static_cast<double>(BankPasses(warp, banks_));
      work_.least_shared_turns +=
          times * static_cast<double>(LeastBankPasses(warp, banks_));
    });
  }

 private:
  // What waits for memory: every reader of a loaded value but those that only
  // keep it for later.
  void UseLoaded(const Inst& inst) {
    const bool keeps =
        std::holds_alternative<CopyInst>(inst.node) ||
        (std::holds_alternative<StoreInst>(inst.node) &&
         kernel_.buffers[std::get<StoreInst>(inst.node).buffer].per_thread);
    for (const Reg reg : Reads(inst)) {
      if (!loaded_[reg]) continue;
      if (keeps) {
        if (const auto* copy = std::get_if<CopyInst>(&inst.node)) {
          loaded_[copy->dst] = loaded_[reg];
        } else {
          kept_[std::get<StoreInst>(inst.node).buffer] = loaded_[reg];
        }
        continue;
      }
      (*loaded_[reg] < fmas_seen_ ? covered_ : waits_) = true;
    }
  }
  void EndStretch(double times) {
    if (waits_) work_.waits += times;
    if (covered_ && !waits_) work_.covered_waits += times;
    waits_ = covered_ = false;
  }

  const ScalarKernel& kernel_;
  const Banks banks_;
  const int64_t sector_bytes_;
  BlockWork work_;
  // By register, and by buffer of a thread's own: of what was loaded from
  // memory, the multiply-adds seen by then.
  std::vector<std::optional<int64_t>> loaded_, kept_;
  int64_t fmas_seen_ = 0;
  bool waits_ = false, covered_ = false;  // in this stretch
};

}  // namespace

BlockWork CountBlockWork(const ScalarKernel& kernel, const Banks& banks,
                         int64_t sector_bytes) {
  return Counter(kernel, banks, sector_bytes).Count();
}

}  // namespace tilewright
