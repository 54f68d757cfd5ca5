// All of gpu_check, but for where devices and code come from: a GPU, or a fake
// driver that runs the emulator's modules.
#ifndef TILEWRIGHT_TOOLS_GPU_GPU_CHECK_H_
#define TILEWRIGHT_TOOLS_GPU_GPU_CHECK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/cuda/device/cuda_device.h"
#include "backends/spec/device_spec.pb.h"
#include "tools/gpu/check_graphs.h"

namespace tilewright::cuda {

struct GpuCheckOptions {
  int samples = 50;
  bool hand_written = true;  // kernels written by hand
  bool modes = true;         // how they are measured side by side
  bool generated = true;     // kernels of graphs
  bool conformance = true;   // the suite of backends/cts
  std::string family;        // of generated kernels; empty: all
  // Compiled for the device: whole models. Their kernels go to `details`, a
  // line of JSON each, and outputs for drawn inputs to a folder, where these
  // are given.
  std::vector<std::string> models;
  double model_seconds = 0.2;  // each, by either clock
  std::string details, outputs;
  CheckSizes sizes = CheckSizes::kGpu;
  std::vector<int64_t> products = {2048, 4096, 6144, 8192};
};

struct GpuCheckParts {
  std::function<absl::StatusOr<std::unique_ptr<CudaDevice>>(bool use_profiler)>
      device;
  std::function<absl::StatusOr<std::unique_ptr<backends::Codegen>>(
      const DeviceSpec& spec)>
      codegen;
  // A module with the kernels of check_kernels.h.
  std::function<absl::StatusOr<std::string>(const std::string& target)>
      check_module;
  std::string compiler;        // for people: "NVRTC 13.0"
  std::string cublas_library;  // empty: its usual names
};

// Prints tables; returns how many results are wrong. An error: there is no
// device to be checked, or it does not go on.
absl::StatusOr<int> GpuCheck(const GpuCheckOptions& options,
                             const GpuCheckParts& parts);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_TOOLS_GPU_GPU_CHECK_H_
