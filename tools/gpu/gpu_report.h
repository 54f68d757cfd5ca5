// The output of gpu_check: the kernels of check_kernels.h verified and timed on
// a device, alone and side by side.
#ifndef TILEWRIGHT_TOOLS_GPU_GPU_REPORT_H_
#define TILEWRIGHT_TOOLS_GPU_GPU_REPORT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/device.h"
#include "tools/gpu/check_kernels.h"

namespace tilewright::cuda {

struct KernelTimes {
  double median_ns = 0, min_ns = 0;
  double error = 0;  // as LoadedKernel::WorstError
};

// Times `samples` launches, after warm-up launches.
absl::StatusOr<KernelTimes> TimeKernel(backends::Device* device,
                                       const backends::DeviceModule& module,
                                       const CheckKernel& kernel, int samples);

// Device time of a launch while `degree` streams launch the same kernel at the
// same time, over that of one alone; by degree.
absl::StatusOr<std::map<int, double>> SlowdownByDegree(
    backends::Device* device, const backends::DeviceModule& module,
    const CheckKernel& kernel, const std::vector<int>& degrees, int samples);

// All kernels of a family as candidates of one workload.
struct ModeResult {
  std::string mode;       // "serial", "serial again", "naive", "precise"
  double seconds = 0;     // wall
  std::string best;       // name of the kernel it chose
  double best_worse = 0;  // its serial latency over the best one's, minus 1
  int failed = 0;
};
absl::StatusOr<std::vector<ModeResult>> CompareModes(
    backends::Device* device, const backends::DeviceModule& module,
    const std::vector<CheckKernel>& family, int repeats, int workers);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_TOOLS_GPU_GPU_REPORT_H_
