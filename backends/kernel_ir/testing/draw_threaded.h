// Random kernels with threads, correct by construction: barriers stand where an
// access would meet another thread's, and nowhere else.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_TESTING_DRAW_THREADED_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_TESTING_DRAW_THREADED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::kernel_ir {

struct DrawnThreaded {
  ScalarKernel kernel;
  std::vector<std::string> args;  // bytes, outputs included
};

// Shared scratch of several dtypes, scratch per thread, exchanges of any dtype
// and of vectors, loops with barriers, branches that threads take differently.
// Every value that is computed changes an output. Same seed, same kernel.
DrawnThreaded DrawThreaded(uint64_t seed);

}  // namespace tilewright::kernel_ir

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_TESTING_DRAW_THREADED_H_
