#include "tools/gpu/gpu_check.h"

#include <cstdio>
#include <fstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/cts/backend.h"
#include "backends/spec/load_spec.h"
#include "base/status_macros.h"
#include "tools/gpu/check_kernels.h"
#include "tools/gpu/conformance_counts.h"
#include "tools/gpu/generated_report.h"
#include "tools/gpu/hand_written_report.h"
#include "tools/gpu/model_report.h"
#include "tools/gpu/product_report.h"

namespace tilewright::cuda {
namespace {

// What the emulated sizes leave of the hand-written kernels.
constexpr double kMostEmulatedBytes = 3e5, kMostEmulatedFlops = 1e6;

void Print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}
void PrintTitle(const char* title) { std::printf("\n## %s\n\n", title); }

// What is known of a model by now.
std::string ProgressText(const TimedModel& model) {
  if (!model.status.ok()) return std::string(model.status.message());
  const size_t kernels = model.profile.kernels.size();
  return kernels == 0 ? absl::StrFormat("%.1f us a run", model.run_us.median)
                      : absl::StrFormat("%d kernels apart", kernels);
}

// Why CUPTI's records do not time (any more).
void PrintClock(const CudaDevice& device) {
  std::printf("\nRecords do not time: %s\n",
              std::string(device.profiler_status().message()).c_str());
}

std::vector<CheckKernel> HandWrittenKernels(CheckSizes sizes) {
  std::vector<CheckKernel> kernels;
  for (CheckKernel& kernel : CheckKernels()) {
    if (sizes == CheckSizes::kGpu || (kernel.bytes < kMostEmulatedBytes &&
                                      kernel.flops < kMostEmulatedFlops)) {
      kernels.push_back(std::move(kernel));
    }
  }
  return kernels;
}

class Run {
 public:
  Run(const GpuCheckOptions& options, const GpuCheckParts& parts)
      : options_(options), parts_(parts) {}

  absl::StatusOr<int> Check() {
    // Events first: records, once on, stay on and cost every launch a little.
    TW_ASSIGN_OR_RETURN(events_, parts_.device(/*use_profiler=*/false));
    const DeviceSpec& spec = events_->spec();
    std::printf("%s, %s, %s, %s\n", events_->product().c_str(),
                events_->driver_version().c_str(), parts_.compiler.c_str(),
                spec.target().c_str());
    PrintTitle("The device, as its driver tells it");
    std::printf("```\n%s```\n", SpecText(spec).c_str());
    TW_ASSIGN_OR_RETURN(codegen_, parts_.codegen(spec));
    if (!options_.products.empty()) Products();
    TW_RETURN_IF_ERROR(Models());
    TW_ASSIGN_OR_RETURN(records_, parts_.device(/*use_profiler=*/true));
    const bool had_records = has_records();
    if (!had_records) PrintClock(*records_);
    if (options_.hand_written) TW_RETURN_IF_ERROR(HandWrittenTables());
    if (options_.generated) GeneratedTables();
    if (had_records && !has_records()) PrintClock(*records_);
    if (options_.conformance) Conformance();
    std::printf("\n%d wrong\n", wrong_);
    return wrong_;
  }

 private:
  bool has_records() const { return records_->profiler_status().ok(); }

  void Products() {
    PrintTitle("Products in fp32, by events");
    const std::vector<ProductTimes> products =
        CheckProducts(options_.products, *codegen_, events_.get(),
                      parts_.cublas_library, options_.samples);
    for (const ProductTimes& product : products) {
      wrong_ += product.generated.wrong();
      wrong_ += !(product.difference <= kMostDifference);
    }
    Print(ProductTable(products));
  }

  absl::Status Models() {
    if (options_.models.empty()) return absl::OkStatus();
    PrintTitle("Whole models");
    ModelDevices devices;
    TW_ASSIGN_OR_RETURN(devices.events, parts_.device(/*use_profiler=*/false));
    TW_ASSIGN_OR_RETURN(devices.launches, parts_.device(/*use_profiler=*/true));
    std::ofstream details;  // kept as they come: a check may be cut short
    if (!options_.details.empty()) details.open(options_.details);
    const auto tell = [&](const TimedModel& model) {
      std::fprintf(stderr, "%s: %s\n", model.path.c_str(),
                   ProgressText(model).c_str());
      if (model.status.ok() && !model.profile.kernels.empty())
        details << ModelDetails(model) << std::flush;
    };
    const std::vector<TimedModel> models =
        TimeModels(options_.models, devices, options_.model_seconds,
                   options_.outputs, tell);
    for (const TimedModel& model : models) wrong_ += !model.status.ok();
    Print(ModelTable(models));
    if (!options_.details.empty() && !details)
      return absl::UnavailableError(
          absl::StrCat("cannot write all of '", options_.details, "'"));
    return absl::OkStatus();
  }

  absl::Status HandWrittenTables() {
    PrintTitle("Kernels written by hand");
    TW_ASSIGN_OR_RETURN(const std::string image,
                        parts_.check_module(events_->spec().target()));
    HandWritten by_events, by_records;
    by_events.device = events_.get();
    by_events.kernels = HandWrittenKernels(options_.sizes);
    TW_ASSIGN_OR_RETURN(const auto events_module,
                        events_->LoadModule(image, events_->spec().target()));
    by_events.module = events_module.get();
    std::unique_ptr<backends::DeviceModule> records_module;
    if (has_records()) {
      TW_ASSIGN_OR_RETURN(
          records_module,
          records_->LoadModule(image, records_->spec().target()));
      by_records = {records_.get(), records_module.get(), by_events.kernels};
    }
    TW_ASSIGN_OR_RETURN(const HandWrittenResult result,
                        CheckHandWritten(by_events, by_records,
                                         options_.samples, options_.modes));
    wrong_ += result.wrong;
    copy_bytes_per_ns_ = result.copy_bytes_per_ns;
    return absl::OkStatus();
  }

  std::vector<GeneratedGraph> CheckAll(CheckSizes sizes) {
    std::vector<GeneratedGraph> graphs;
    for (const CheckGraph& graph : CheckGraphs(sizes)) {
      if (!options_.family.empty() && graph.family != options_.family) continue;
      graphs.push_back(CheckGenerated(
          graph, *codegen_,
          {events_.get(), has_records() ? records_.get() : nullptr},
          options_.samples));
      wrong_ += graphs.back().wrong();
    }
    Print(GeneratedTable(graphs));
    return graphs;
  }

  void GeneratedTables() {
    if (options_.sizes == CheckSizes::kGpu) {
      PrintTitle("Generated kernels of small graphs, beside the interpreter");
      CheckAll(CheckSizes::kEmulated);
    }
    PrintTitle("Generated kernels");
    const std::vector<GeneratedGraph> graphs = CheckAll(options_.sizes);
    if (options_.hand_written) {
      PrintTitle("Chains beside a copy");
      Print(ChainTable(graphs, copy_bytes_per_ns_));
    }
    PrintTitle("Predicted and measured");
    Print(PredictionTable(graphs));
  }

  void Conformance() {
    PrintTitle("Conformance");
    cts::Backend backend;
    backend.name = "Cuda";
    backend.codegen = [this] { return parts_.codegen(events_->spec()); };
    backend.device =
        [this](int) -> absl::StatusOr<std::unique_ptr<backends::Device>> {
      return parts_.device(/*use_profiler=*/false);
    };
    const ConformanceCounts counts = RunConformance(backend);
    wrong_ += counts.failed;
    Print(ToString(counts));
  }

  const GpuCheckOptions& options_;
  const GpuCheckParts& parts_;
  std::unique_ptr<CudaDevice> events_, records_;
  std::unique_ptr<backends::Codegen> codegen_;
  double copy_bytes_per_ns_ = 0;
  int wrong_ = 0;
};

}  // namespace

absl::StatusOr<int> GpuCheck(const GpuCheckOptions& options,
                             const GpuCheckParts& parts) {
  return Run(options, parts).Check();
}

}  // namespace tilewright::cuda
