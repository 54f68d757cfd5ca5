// Writes what kernels with threads have beside tile operations: the iterations
// of each thread, barriers, exchanges. Internal to legalize.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_EMIT_THREADS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_EMIT_THREADS_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/threads/combine_lanes.h"
#include "backends/lowering/threads/thread_plan.h"
#include "backends/lowering/vectorize/emit_tile_op.h"

namespace tilewright::lowering {

struct ThreadCode {
  ThreadPlan plan;
  std::set<const kernel_ir::Stmt*> barriers;  // right before these
};

// Buffers of which several threads may touch one element while it changes.
std::set<int> SharedBuffers(const kernel_ir::Kernel& kernel,
                            const ThreadCode& code);

class ThreadEmitter {
 public:
  // Both must outlive it.
  ThreadEmitter(EmitContext& context, const ThreadCode& code)
      : c_(context), code_(code) {}

  // At the start of the kernel: which iterations each thread has.
  void Begin();
  // Whether some threads may be elsewhere.
  bool parted() const { return depth_ > 0; }
  // Writes the barrier or exchange that a statement which all threads reach
  // has before it.
  void Before(const kernel_ir::Stmt& stmt);
  // Around what the first thread alone does.
  void BeginFirst();
  void EndFirst();
  // Around the body of a thread loop, whose variable is then bound.
  void BeginLoop(const kernel_ir::For& loop, int depth);
  void EndLoop(const kernel_ir::For& loop);

 private:
  void Number(const std::vector<kernel_ir::Stmt>& stmts);
  void Exchange(const LaneExchange& exchange);
  void CombineLanes(const LaneExchange& exchange, kernel_ir::Reg variable);
  // True for the threads that have an iteration; kNoReg: all of them.
  kernel_ir::Reg HasIteration(const kernel_ir::For& loop);

  EmitContext& c_;
  const ThreadCode& code_;
  kernel_ir::Reg thread_ = kernel_ir::kNoReg;
  // By stride and wraps of a loop: which iteration a thread has.
  std::map<std::pair<int64_t, int64_t>, kernel_ir::Reg> numbers_;
  int depth_ = 0;            // of thread loops that are open, and of BeginFirst
  bool everywhere_ = false;  // idle threads run the open nest too
  std::set<int> guarded_;    // variables of open loops with a branch around
};

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_EMIT_THREADS_H_
