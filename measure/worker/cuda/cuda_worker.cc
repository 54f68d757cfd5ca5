#include "measure/worker/cuda/cuda_worker.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/cuda/codegen/cuda_codegen.h"
#include "backends/spec/load_spec.h"
#include "base/status_macros.h"
#include "measure/worker/codegen_builder.h"

namespace tilewright::cuda {
namespace {

absl::StatusOr<DeviceSpec> SpecOf(const std::string& options) {
  return ParseSpec(options, "the options of the backend 'cuda'");
}

}  // namespace

measure::WorkerBackend CudaWorker() {
  CudaWorkerParts parts;
  parts.codegen = [](const DeviceSpec& spec) {
    return CreateCudaCodegen(spec);
  };
  parts.device = [](const DeviceSpec& spec)
      -> absl::StatusOr<std::unique_ptr<backends::Device>> {
    CudaDeviceOptions options;
    options.spec = spec;
    return CreateCudaDevice(options);
  };
  return CudaWorker(parts);
}

measure::WorkerBackend CudaWorker(const CudaWorkerParts& parts) {
  measure::WorkerBackend backend;
  backend.name = "cuda";
  backend.builder = [codegen = parts.codegen](const std::string& options)
      -> absl::StatusOr<measure::BuildFunction> {
    TW_ASSIGN_OR_RETURN(const DeviceSpec spec, SpecOf(options));
    TW_ASSIGN_OR_RETURN(std::unique_ptr<backends::Codegen> made, codegen(spec));
    return measure::CodegenBuilder(std::move(made));
  };
  backend.device =
      [device = parts.device](
          const std::string& options,
          int threads) -> absl::StatusOr<std::unique_ptr<backends::Device>> {
    if (threads != 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "candidates on a GPU have one thread of the host, not ", threads));
    }
    TW_ASSIGN_OR_RETURN(const DeviceSpec spec, SpecOf(options));
    return device(spec);
  };
  backend.timer = measure::MakeTimer;
  // The driver opens its device files when it likes.
  backend.opens_devices = true;
  return backend;
}

}  // namespace tilewright::cuda
