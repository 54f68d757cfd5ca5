// Runs a scalar kernel on symbols instead of values: what every element of its
// outputs is, as a function of the inputs.
#ifndef TILEWRIGHT_MEASURE_TESTING_SYMBOLIC_KERNEL_H_
#define TILEWRIGHT_MEASURE_TESTING_SYMBOLIC_KERNEL_H_

#include <vector>

#include "absl/status/statusor.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "measure/testing/symbolic_terms.h"

namespace tilewright::measure {

// By argument: its elements, from what they were before the first task to what
// they are after the last one. Of the types that registers have for them.
// Unimplemented where a branch, a number of steps, a mask, or an address of
// anything but an input, depends on what is in an input; OutOfRange where
// InterpretScalarKernel says so. REQUIRES: VerifyScalarKernel(kernel), and so
// many arguments and elements as it has.
absl::StatusOr<std::vector<std::vector<Term>>> RunOnSymbols(
    const kernel_ir::ScalarKernel& kernel,
    std::vector<std::vector<Term>> arguments, Terms& terms);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_TESTING_SYMBOLIC_KERNEL_H_
