// gpu_check: for whoever has a GPU. Needs the NVIDIA driver and NVRTC; CUPTI is
// used if it is there. Prints tables; exits with 1 if a result is wrong.
//
//   gpu_check [--samples=N] [--ordinal=N] [--no-modes]
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/cuda/device/cuda_device.h"
#include "backends/cuda/nvrtc/nvrtc.h"
#include "backends/spec/load_spec.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "bench/gpu/check_kernels.h"
#include "bench/gpu/gpu_report.h"

namespace tilewright::cuda {
namespace {

constexpr int kDegree = 16;

struct Flags {
  int samples = 50;
  int ordinal = 0;
  bool no_modes = false;
};

// A device with the kernels on it.
struct Checked {
  std::unique_ptr<CudaDevice> device;
  std::unique_ptr<backends::DeviceModule> module;
};

absl::StatusOr<Checked> Open(const Flags& flags, bool use_profiler,
                             std::string& cubin) {
  Checked checked;
  CudaDeviceOptions options;
  options.ordinal = flags.ordinal;
  options.use_profiler = use_profiler;
  TW_ASSIGN_OR_RETURN(checked.device, CreateCudaDevice(options));
  const std::string target = checked.device->spec().target();
  if (cubin.empty()) {
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<Nvrtc> nvrtc, Nvrtc::Open());
    TW_ASSIGN_OR_RETURN(Cubin compiled,
                        nvrtc->Compile(CheckKernelsText(), "check_kernels.cu",
                                       target.substr(5)));
    cubin = std::move(compiled.bytes);
    std::printf("%s, %s, NVRTC %s, %s\n", checked.device->product().c_str(),
                checked.device->driver_version().c_str(),
                nvrtc->version().c_str(), target.c_str());
  }
  TW_ASSIGN_OR_RETURN(checked.module,
                      checked.device->LoadModule(cubin, target));
  return checked;
}

using Times = std::map<std::string, KernelTimes>;

absl::StatusOr<Times> TimeAll(const Checked& on, int samples) {
  Times times;
  for (const CheckKernel& kernel : CheckKernels()) {
    TW_ASSIGN_OR_RETURN(
        times[kernel.name],
        TimeKernel(on.device.get(), *on.module, kernel, samples));
  }
  return times;
}

int PrintTimes(const Times& events, const Times& records) {
  std::printf(
      "\n| kernel | what | events us | records us | ratio | GFLOP/s | GB/s | "
      "error |\n|---|---|---|---|---|---|---|---|\n");
  int wrong = 0;
  for (const CheckKernel& kernel : CheckKernels()) {
    const KernelTimes& by_events = events.at(kernel.name);
    const auto found = records.find(kernel.name);
    const KernelTimes& best =
        found != records.end() ? found->second : by_events;
    const double error = std::max(by_events.error, best.error);
    wrong += !(error <= 1);
    std::printf("| %s | %s | %.2f | %.2f | %.3f | %.0f | %.0f | %s%.2g |\n",
                kernel.name.c_str(), kernel.size.c_str(),
                by_events.median_ns * 1e-3, best.median_ns * 1e-3,
                by_events.median_ns / best.median_ns,
                kernel.flops / best.median_ns, kernel.bytes / best.median_ns,
                error <= 1 ? "" : "WRONG: ", error);
  }
  return wrong;
}

absl::Status PrintSlowdowns(const Checked& on, int samples) {
  const std::vector<int> degrees = {1, 2, 4, 8, kDegree};
  std::printf(
      "\nTime of a launch against alone, by streams that launch the same "
      "kernel:\n\n| kernel |");
  for (const int degree : degrees) std::printf(" %d |", degree);
  std::printf("\n|---|---|---|---|---|---|\n");
  int index = 0;
  for (const CheckKernel& kernel : CheckKernels()) {
    // Every fifth, and none that takes much memory sixteen times.
    if (index++ % 5 != 0 || kernel.bytes > 1e8) continue;
    TW_ASSIGN_OR_RETURN(const auto slowdowns,
                        SlowdownByDegree(on.device.get(), *on.module, kernel,
                                         degrees, samples));
    std::printf("| %s |", kernel.name.c_str());
    for (const int degree : degrees)
      std::printf(" %.2f |", slowdowns.at(degree));
    std::printf("\n");
  }
  return absl::OkStatus();
}

absl::Status PrintModes(const Checked& on, int repeats) {
  std::map<std::string, std::vector<CheckKernel>> families;
  for (const CheckKernel& kernel : CheckKernels()) {
    families[kernel.family].push_back(kernel);
  }
  std::printf(
      "\nAll kernels of a family as candidates, %d workers, %d repeats:\n\n"
      "| family | mode | seconds | saved %% | failed | chose | worse %% |\n"
      "|---|---|---|---|---|---|---|\n",
      kDegree, repeats);
  for (const auto& [family, kernels] : families) {
    TW_ASSIGN_OR_RETURN(
        const std::vector<ModeResult> results,
        CompareModes(on.device.get(), *on.module, kernels, repeats, kDegree));
    for (const ModeResult& result : results) {
      std::printf("| %s | %s | %.3f | %.1f | %d | %s | %.1f |\n",
                  family.c_str(), result.mode.c_str(), result.seconds,
                  100 * (1 - result.seconds / results.front().seconds),
                  result.failed, result.best.c_str(), 100 * result.best_worse);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int> Check(const Flags& flags) {
  std::string cubin;
  // Events first: records, once on, stay on and cost every launch a little.
  TW_ASSIGN_OR_RETURN(Checked by_events, Open(flags, false, cubin));
  std::printf("\n%s\n", SpecText(by_events.device->spec()).c_str());
  TW_ASSIGN_OR_RETURN(const Times events, TimeAll(by_events, flags.samples));
  TW_ASSIGN_OR_RETURN(const Checked by_records, Open(flags, true, cubin));
  Times records;
  if (by_records.device->profiler_status().ok()) {
    TW_ASSIGN_OR_RETURN(records, TimeAll(by_records, flags.samples));
  } else {
    std::printf("No records: %s\n",
                by_records.device->profiler_status().ToString().c_str());
  }
  const int wrong = PrintTimes(events, records);
  TW_RETURN_IF_ERROR(PrintSlowdowns(by_records, flags.samples));
  if (!flags.no_modes)
    TW_RETURN_IF_ERROR(PrintModes(by_records, flags.samples));
  std::printf("\n%zu kernels, %d wrong\n", CheckKernels().size(), wrong);
  return wrong;
}

int Main(int argc, char** argv) {
  Flags flags;
  OptionParser parser;
  parser.Number("samples", &flags.samples, 1);
  parser.Number("ordinal", &flags.ordinal, 0);
  parser.Flag("no-modes", &flags.no_modes);
  const absl::StatusOr<std::vector<std::string>> rest =
      parser.Parse(std::vector<std::string>(argv + 1, argv + argc));
  if (!rest.ok() || !rest->empty())
    return ReportUsage(
        "gpu_check [--samples=N] [--ordinal=N] [--no-modes]",
        rest.ok() ? absl::InvalidArgumentError("takes no arguments but flags")
                  : rest.status());
  const absl::StatusOr<int> wrong = Check(flags);
  if (wrong.ok()) return *wrong > 0;
  return ReportStatus("gpu_check", wrong.status());
}

}  // namespace
}  // namespace tilewright::cuda

int main(int argc, char** argv) { return tilewright::cuda::Main(argc, argv); }
