#include "tools/gpu/reference_kernels.h"

#include <string>

#include "tools/gpu/check_kernels.h"

namespace tilewright::cuda {
namespace {

const CheckKernel& KernelOf(const std::string& name) {
  static const auto* kernels = new std::vector<CheckKernel>(CheckKernels());
  for (const CheckKernel& kernel : *kernels) {
    if (kernel.name == name) return kernel;
  }
  return kernels->front();
}

}  // namespace

double reference_error = 0;

std::vector<FakeKernel> FakesOfCheckKernels() {
  std::vector<FakeKernel> fakes;
  for (const CheckKernel& kernel : CheckKernels()) {
    fakes.push_back(
        {kernel.name, static_cast<int>(kernel.elements.size()), 256});
  }
  return fakes;
}

void ReferenceKernel(const char* name, void* const* buffers, int64_t block) {
  const CheckKernel& kernel = KernelOf(name);
  std::vector<std::vector<float>> inputs;
  for (size_t i = 0; i + 1 < kernel.elements.size(); ++i) {
    const auto* values = static_cast<const float*>(buffers[i]);
    inputs.emplace_back(values, values + kernel.elements[i]);
  }
  auto* const output = static_cast<float*>(buffers[inputs.size()]);
  const int64_t per_block = kernel.elements.back() / kernel.num_tasks;
  for (int64_t i = block * per_block; i < (block + 1) * per_block; ++i) {
    output[i] =
        static_cast<float>(kernel.expected(inputs, i) + reference_error);
  }
}

}  // namespace tilewright::cuda
