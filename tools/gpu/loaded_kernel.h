#ifndef TILEWRIGHT_TOOLS_GPU_LOADED_KERNEL_H_
#define TILEWRIGHT_TOOLS_GPU_LOADED_KERNEL_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/device.h"
#include "tools/gpu/check_kernels.h"

namespace tilewright::cuda {

// A kernel of check_kernels.h with buffers on a device and a stream of its own.
class LoadedKernel {
 public:
  // Inputs are random in [-1, 1], by `seed`; outputs are NaN. `device` and
  // `module` must outlive it.
  static absl::StatusOr<std::unique_ptr<LoadedKernel>> Load(
      backends::Device* device, const backends::DeviceModule& module,
      const CheckKernel& kernel, uint64_t seed = 1);

  backends::Stream& stream() { return *stream_; }
  absl::Status Launch();
  // Compares the output of a launch, or 2000 elements of it. The largest error
  // as a share of the tolerance, or of the smallest float above 0 where there
  // is none; infinite for NaN.
  absl::StatusOr<double> WorstError();

 private:
  explicit LoadedKernel(CheckKernel kernel) : kernel_(std::move(kernel)) {}

  const CheckKernel kernel_;
  std::unique_ptr<backends::Stream> stream_;
  std::unique_ptr<backends::DeviceKernel> function_;
  std::vector<std::unique_ptr<backends::DeviceBuffer>> buffers_;
  std::vector<void*> addresses_;
  std::vector<std::vector<float>> inputs_;
};

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_TOOLS_GPU_LOADED_KERNEL_H_
