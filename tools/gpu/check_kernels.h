// Kernels written by hand, to check a GPU, its driver and its clock with:
// copies, reductions and matrix products of many sizes, generated from tables.
// They keep the ABI of cuda_device.h.
#ifndef TILEWRIGHT_TOOLS_GPU_CHECK_KERNELS_H_
#define TILEWRIGHT_TOOLS_GPU_CHECK_KERNELS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tilewright::cuda {

struct CheckKernel {
  std::string name;    // of the function
  std::string family;  // "copy", "reduce", "gemm"
  std::string size;    // for people: "1 MiB, 16 bytes a load"
  int64_t num_tasks = 1;
  int64_t scratch_bytes = 0;
  // Buffers of f32, in order; the last one is the output.
  std::vector<int64_t> elements;
  double flops = 0;
  double bytes = 0;  // that must move at least
  // Element `index` of the output, of the inputs, in double; and how far the
  // kernel's may be from it.
  std::function<double(const std::vector<std::vector<float>>& inputs,
                       int64_t index)>
      expected;
  double tolerance = 0;
};

// About fifty. Sizes from a few KB to hundreds of MB.
std::vector<CheckKernel> CheckKernels();

// One text that defines all of them: CUDA C++ that includes nothing.
std::string CheckKernelsText();

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_TOOLS_GPU_CHECK_KERNELS_H_
