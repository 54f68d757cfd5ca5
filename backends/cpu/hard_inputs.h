// Cases with inputs that a draw hardly gives: NaN, infinities, rows in which
// everything cancels.
#ifndef TILEWRIGHT_BACKENDS_CPU_HARD_INPUTS_H_
#define TILEWRIGHT_BACKENDS_CPU_HARD_INPUTS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "backends/lowering/testing/random_case.h"

namespace tilewright::cpu {

// Lets `set` change each input, and expects what the reference interpreter then
// makes of them: element i of the output, which is `value`, within
// `bound(i, value)`. REQUIRES: inputs are f32 and row-major, one output.
absl::Status SetInputs(
    lowering::RandomCase& random_case,
    const std::function<void(const std::string& name, float* values)>& set,
    const std::function<double(int64_t i, double value)>& bound);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_HARD_INPUTS_H_
