// The tables of the kernels of check_kernels.h.
#ifndef TILEWRIGHT_TOOLS_GPU_HAND_WRITTEN_REPORT_H_
#define TILEWRIGHT_TOOLS_GPU_HAND_WRITTEN_REPORT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "backends/device.h"
#include "tools/gpu/check_kernels.h"

namespace tilewright::cuda {

// These kernels, in a module on a device.
struct HandWritten {
  backends::Device* device = nullptr;
  const backends::DeviceModule* module = nullptr;
  std::vector<CheckKernel> kernels;
};

struct HandWrittenResult {
  int wrong = 0;
  // Read and written, by the fastest of the largest copies.
  double copy_bytes_per_ns = 0;
};

// Prints the kernels, verified and timed by `events` and, if it has a device,
// by `records`; how launches on several streams slow each other down; with
// `modes` the kernels of each family as candidates that are measured side by
// side.
absl::StatusOr<HandWrittenResult> CheckHandWritten(const HandWritten& events,
                                                   const HandWritten& records,
                                                   int samples, bool modes);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_TOOLS_GPU_HAND_WRITTEN_REPORT_H_
