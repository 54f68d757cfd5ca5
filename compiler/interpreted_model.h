// A compiled model run by the scalar tier's interpreter: the bits that every
// backend's code of it must give. Races between threads are errors.
#ifndef TILEWRIGHT_COMPILER_INTERPRETED_MODEL_H_
#define TILEWRIGHT_COMPILER_INTERPRETED_MODEL_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/compile.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

// One run: inputs in order, outputs in order. Errors are those of
// InterpretScalarKernel, with the kernel's name. REQUIRES: the launch plan only
// launches, copies and sets to zero on the device.
absl::StatusOr<std::vector<HostTensor>> InterpretModel(
    const CompiledModel& compiled, const std::vector<HostTensor>& inputs);

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_INTERPRETED_MODEL_H_
