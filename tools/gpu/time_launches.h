#ifndef TILEWRIGHT_TOOLS_GPU_TIME_LAUNCHES_H_
#define TILEWRIGHT_TOOLS_GPU_TIME_LAUNCHES_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/device.h"

namespace tilewright::cuda {

// Device time in ns of each of `samples` calls of `launch`, which enqueues on
// `stream`, after as many warm-up calls, three at most.
absl::StatusOr<std::vector<double>> TimeLaunches(
    backends::Device* device, backends::Stream& stream,
    const std::function<absl::Status()>& launch, int samples);

double Median(std::vector<double> values);  // REQUIRES: not empty

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_TOOLS_GPU_TIME_LAUNCHES_H_
