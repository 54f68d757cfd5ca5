// For tests: the kernels of check_kernels.h on the fake driver, as references
// on the host.
#ifndef TILEWRIGHT_TOOLS_GPU_REFERENCE_KERNELS_H_
#define TILEWRIGHT_TOOLS_GPU_REFERENCE_KERNELS_H_

#include <cstdint>
#include <vector>

#include "backends/cuda/device/fake_image.h"

namespace tilewright::cuda {

std::vector<FakeKernel> FakesOfCheckKernels();

// What every element of ReferenceKernel's outputs is wrong by; 0 at first.
extern double reference_error;

// A FakeCudaHostKernel: the elements of the output that a block writes, one
// after the other; tests do not ask which those are.
void ReferenceKernel(const char* name, void* const* buffers, int64_t block);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_TOOLS_GPU_REFERENCE_KERNELS_H_
