// Runs kernels on a backend and in the interpreter and compares.
#ifndef TILEWRIGHT_BACKENDS_CTS_COMPARE_H_
#define TILEWRIGHT_BACKENDS_CTS_COMPARE_H_

#include <string>
#include <vector>

#include "backends/cts/backend.h"
#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::cts {

// A kernel with the bytes of each argument (physical elements, in order);
// outputs start with what is given.
struct Run {
  kernel_ir::ScalarKernel kernel;
  std::vector<std::string> args;
};

// All runs as one module. EXPECTs that every kernel verifies, that the
// interpreter accepts it, and that the backend writes what the interpreter
// writes and nothing else. `num_threads` is the device's.
void ExpectSameAsInterpreter(const Backend& backend,
                             const std::vector<Run>& runs, int num_threads = 1);

// "" if the bytes hold equal elements (floats: equal bits, or both NaN), else
// the first difference.
std::string FirstDifference(DType dtype, const std::string& actual,
                            const std::string& expected);

}  // namespace tilewright::cts

#endif  // TILEWRIGHT_BACKENDS_CTS_COMPARE_H_
