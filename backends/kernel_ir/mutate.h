// Wrong kernels made from a right one, each by one small change: what checks
// that say "correct" must reject.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_MUTATE_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_MUTATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::kernel_ir {

struct Mutant {
  std::string name;  // "instruction 17: last step skipped"
  ScalarKernel kernel;
};

// Up to `count` mutants of `kernel`, drawn evenly over the kinds of change:
// loop bounds and steps, offsets, strides, divisors, limits, initial values,
// masks and active lanes, stores, operands, operations, comparisons, branches,
// lanes, the last task; scratch that is not filled, that of the task before,
// another buffer of it; of kernels with threads, barriers that are dropped,
// exchanges with another lane, waits for asynchronous copies that are dropped
// or too weak. All pass VerifyScalarKernel. Same seed, same
// mutants. A few may compute the same as `kernel`; tests tell by the
// interpreter.
std::vector<Mutant> Mutants(const ScalarKernel& kernel, int count,
                            uint64_t seed);

}  // namespace tilewright::kernel_ir

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_MUTATE_H_
