// gpu_check: for whoever has an NVIDIA GPU. Needs the driver and NVRTC, which
// it opens at run time, as it does CUPTI and cuBLAS if they are there. Prints
// tables; exits with 1 if a result is wrong.
//
//   gpu_check [--samples=N] [--ordinal=N] [--products=N,...] [--family=NAME]
//             [--no-modes] [--no-conformance] [--only=PART]
//             [--seconds=S] [--details=FILE] [--outputs=DIR] [MODEL.tw...]
#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/codegen.h"
#include "backends/cuda/codegen/cuda_codegen.h"
#include "backends/cuda/device/cuda_device.h"
#include "backends/cuda/nvrtc/nvrtc.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "tools/gpu/check_kernels.h"
#include "tools/gpu/gpu_check.h"

namespace tilewright::cuda {
namespace {

constexpr char kUsage[] =
    "gpu_check [--samples=N] [--ordinal=N] [--products=N,...] [--family=NAME] "
    "[--no-modes] [--no-conformance] [--only=PART] [--seconds=S] "
    "[--details=FILE] [--outputs=DIR] [MODEL.tw...]";

absl::StatusOr<int> Check(const GpuCheckOptions& options, int ordinal) {
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Nvrtc> nvrtc, Nvrtc::Open());
  GpuCheckParts parts;
  parts.compiler = absl::StrCat("NVRTC ", nvrtc->version());
  parts.device = [&](bool use_profiler) {
    CudaDeviceOptions device;
    device.ordinal = ordinal;
    device.use_profiler = use_profiler;
    return CreateCudaDevice(device);
  };
  parts.codegen = [](const DeviceSpec& spec) {
    return CreateCudaCodegen(spec);
  };
  parts.check_module =
      [&](const std::string& target) -> absl::StatusOr<std::string> {
    TW_ASSIGN_OR_RETURN(
        Cubin cubin,
        nvrtc->Compile(CheckKernelsText(), "check_kernels.cu",
                       target.substr(std::string("cuda:").size())));
    return std::move(cubin.bytes);
  };
  return GpuCheck(options, parts);
}

// Leaves of all parts the one of that name; "" leaves all.
absl::Status Select(const std::string& only, GpuCheckOptions& options) {
  constexpr const char* kParts[] = {"products", "models", "hand-written",
                                    "generated", "conformance"};
  if (only.empty()) return absl::OkStatus();
  if (std::find(std::begin(kParts), std::end(kParts), only) == std::end(kParts))
    return absl::InvalidArgumentError(absl::StrCat(
        "--only=", only, ": expected ", absl::StrJoin(kParts, ", ")));
  if (only != "products") options.products.clear();
  if (only != "models") options.models.clear();
  options.hand_written = options.modes = only == "hand-written";
  options.generated = only == "generated";
  options.conformance = only == "conformance";
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  GpuCheckOptions options;
  int ordinal = 0;
  bool no_modes = false, no_conformance = false;
  std::string only;
  OptionParser parser;
  parser.Number("samples", &options.samples, 1);
  parser.Number("ordinal", &ordinal, 0);
  parser.List("products", &options.products, 1);
  parser.Text("family", &options.family);
  parser.Flag("no-modes", &no_modes);
  parser.Flag("no-conformance", &no_conformance);
  parser.Text("only", &only);
  parser.Number("seconds", &options.model_seconds, 0);
  parser.Text("details", &options.details);
  parser.Text("outputs", &options.outputs);
  const absl::StatusOr<std::vector<std::string>> rest =
      parser.Parse(std::vector<std::string>(argv + 1, argv + argc));
  if (!rest.ok()) return ReportUsage(kUsage, rest.status());
  options.models = *rest;
  if (absl::Status known = Select(only, options); !known.ok())
    return ReportUsage(kUsage, known);
  options.modes &= !no_modes;
  options.conformance &= !no_conformance;
  const absl::StatusOr<int> wrong = Check(options, ordinal);
  if (wrong.ok()) return *wrong > 0;
  return ReportStatus("gpu_check", wrong.status());
}

}  // namespace
}  // namespace tilewright::cuda

int main(int argc, char** argv) { return tilewright::cuda::Main(argc, argv); }
