// What the threads of a block do, access by access, without running a kernel:
// indices follow from the numbers of block and thread, and nothing is loaded.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_THREAD_WALK_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_THREAD_WALK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::kernel_ir {

// Threads that issue together, for what is counted by warp.
inline constexpr size_t kWarpLanes = 32;

// One access of all threads of a block.
struct ThreadAccess {
  static constexpr int64_t kIdle = -1;
  int buffer = 0;
  int lanes = 1;  // elements side by side of each thread
  // Of them, those that are sure to be one access together, of up to 16 bytes.
  int piece = 1;
  // By thread, its first element; kIdle: it takes no part. An index that is not
  // known, as it was read from memory, is the one that wastes nothing: threads
  // of a warp lie side by side from 0 on. None lies outside of the buffer.
  std::vector<int64_t> first;
};

class ThreadVisitor {
 public:
  using Active = std::vector<char>;  // by thread, whether it is

  virtual ~ThreadVisitor() = default;
  // An instruction that the threads come to which are `active`, before its
  // accesses and what is inside it. `times`: how often, of which this is one.
  virtual void Visit(const Inst& /*inst*/, const Active& /*active*/,
                     double /*times*/) {}
  // Not those to what threads have for themselves.
  virtual void Access(const ThreadAccess& /*access*/, double /*times*/) {}
};

// The warps of a block in which a thread is active.
double ActiveWarps(const ThreadVisitor::Active& active);

// Follows the threads of block `task`. Of a loop with more turns than
// `most_turns` it takes as many, the first and the last for themselves if there
// are others for the rest; variables that a loop changes are those of its last
// turn taken. Both sides of a branch on something unknown are taken. REQUIRES:
// kernel.has_threads(), verified; most_turns >= 1.
void WalkThreads(const ScalarKernel& kernel, int64_t task, int64_t most_turns,
                 ThreadVisitor& visitor);

}  // namespace tilewright::kernel_ir

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_THREAD_WALK_H_
