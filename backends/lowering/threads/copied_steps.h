// The kernel that passes over loops of steps are tested on: copies to what a
// block shares, and sums of what was copied.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_THREADS_COPIED_STEPS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_THREADS_COPIED_STEPS_H_

#include <vector>

#include "backends/kernel_ir/tile_ir.h"

namespace tilewright::lowering {

struct CopiedSteps {
  static constexpr int kSteps = 5, kThreads = 4;
  // Its buffers.
  static constexpr int kIn = 0, kOut = 1, kShared = 2;

  // Zeros in `out`; then, for each of `kSteps` steps, threads copy a row of
  // `in` to `shared`, and each adds the row's elements, from the last thread's
  // to the first's, to out[thread]. `hints` are of the loop of steps. If
  // `copied` is `out`, each step copies that instead.
  static kernel_ir::Kernel Sums(const kernel_ir::For::Hints& hints,
                                int copied = kIn);
  // `out`, by the interpreter; a kernel that does not verify fails the test.
  static std::vector<float> Run(const kernel_ir::Kernel& kernel);
};

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_THREADS_COPIED_STEPS_H_
