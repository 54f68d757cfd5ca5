#include "tools/gpu/generated_report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/reference/bounded_functions.h"
#include "tilegraph/reference/verify_output.h"
#include "tools/gpu/graph_on_device.h"
#include "tools/gpu/planned_graph.h"
#include "tools/gpu/time_launches.h"
#include "tools/gpu/verify_graph.h"

namespace tilewright::cuda {
namespace {

// The interpreter takes tens of nanoseconds for an operation.
constexpr double kMostInterpretedFlops = 2e6;

using Inputs = std::map<TensorId, HostTensor>;

GeneratedKernel Describe(const PlannedKernel& planned) {
  const kernel_ir::ScalarKernel& scalar = planned.kernel.scalar;
  GeneratedKernel kernel;
  kernel.generator = planned.kernel.generator;
  kernel.blocks = scalar.num_tasks;
  kernel.threads = scalar.threads;
  kernel.shared_bytes = scalar.scratch_bytes;
  kernel.registers = planned.kernel.report.registers.value_or(0);
  if (planned.tiles != nullptr) {
    kernel.tile = absl::StrJoin(planned.tiles->tile, " x ");
    kernel.predicted_ns = planned.tiles->cost.seconds * 1e9;
  }
  kernel.flops = planned.flops;
  kernel.bytes = planned.bytes;
  return kernel;
}

absl::Status TimeKernels(CudaDevice* device, const PlannedGraph& planned,
                         const Inputs& inputs, int samples,
                         double GeneratedKernel::*where,
                         std::vector<GeneratedKernel>& kernels) {
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<GraphOnDevice> on,
                      GraphOnDevice::Load(device, &planned, inputs));
  TW_RETURN_IF_ERROR(on->LaunchAll());
  for (size_t i = 0; i < kernels.size(); ++i) {
    TW_ASSIGN_OR_RETURN(
        std::vector<double> ns,
        TimeLaunches(
            device, on->stream(), [&] { return on->Launch(i); }, samples));
    kernels[i].*where = Median(std::move(ns));
  }
  return absl::OkStatus();
}

absl::Status Check(const backends::Codegen& codegen,
                   const CheckedDevices& devices, int samples,
                   GeneratedGraph& checked) {
  TW_ASSIGN_OR_RETURN(
      const PlannedGraph planned,
      PlanGraph(checked.graph.TextOf(checked.graph.rows), codegen));
  double flops = 0;
  for (const PlannedKernel& kernel : planned.kernels) {
    checked.kernels.push_back(Describe(kernel));
    flops += kernel.flops;
  }
  const Inputs inputs = RandomInputs(planned.graph);
  {
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<GraphOnDevice> on,
                        GraphOnDevice::Load(devices.events, &planned, inputs));
    TW_RETURN_IF_ERROR(on->LaunchAll());
    TW_ASSIGN_OR_RETURN(const OutputVerdict verdict,
                        VerifyRows(checked.graph, planned, inputs, *on));
    checked.reason = verdict.reason;
    checked.error = verdict.largest_error / kBoundFactor;
    if (flops <= kMostInterpretedFlops) {
      TW_ASSIGN_OR_RETURN(checked.unlike_bytes,
                          BytesUnlikeInterpreter(planned, inputs, *on));
    }
  }
  TW_RETURN_IF_ERROR(TimeKernels(devices.events, planned, inputs, samples,
                                 &GeneratedKernel::events_ns, checked.kernels));
  if (devices.records == nullptr) return absl::OkStatus();
  return TimeKernels(devices.records, planned, inputs, samples,
                     &GeneratedKernel::records_ns, checked.kernels);
}

std::string Microseconds(double ns) {
  return ns > 0 ? absl::StrFormat("%.2f", ns * 1e-3) : "";
}

std::string VerdictText(const GeneratedGraph& graph) {
  if (!graph.reason.empty()) return absl::StrCat("WRONG: ", graph.reason);
  return absl::StrFormat("%.2g", graph.error);
}

std::string BitsText(const GeneratedGraph& graph) {
  if (graph.unlike_bytes < 0) return "";
  return graph.unlike_bytes == 0
             ? "same"
             : absl::StrCat(graph.unlike_bytes, " bytes differ");
}

}  // namespace

GeneratedGraph CheckGenerated(const CheckGraph& graph,
                              const backends::Codegen& codegen,
                              const CheckedDevices& devices, int samples) {
  GeneratedGraph checked;
  checked.graph = graph;
  checked.status = Check(codegen, devices, samples, checked);
  return checked;
}

std::string GeneratedTable(const std::vector<GeneratedGraph>& graphs) {
  std::string text =
      "| family | graph | storage | blocks | threads | shared | registers | "
      "events us | records us | GFLOP/s | GB/s | predicted us | error | bits "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const GeneratedGraph& graph : graphs) {
    const std::string start = absl::StrFormat(
        "| %s | %s | %s |", graph.graph.family, graph.graph.name,
        graph.graph.storage == DType::kFloat16 ? "fp16" : "fp32");
    if (!graph.status.ok()) {
      absl::StrAppend(&text, start,
                      " FAILED: ", std::string(graph.status.message()), " |\n");
      continue;
    }
    for (const GeneratedKernel& kernel : graph.kernels) {
      const double ns = std::max(kernel.best_ns(), 1.0);
      absl::StrAppend(
          &text, start,
          absl::StrFormat(
              " %d | %d%s | %d | %s | %s | %s | %.0f | %.0f | %s | %s | %s |\n",
              kernel.blocks, kernel.threads,
              kernel.generator == "simt" ? "" : " (one a task)",
              kernel.shared_bytes,
              kernel.registers > 0 ? absl::StrCat(kernel.registers) : "",
              Microseconds(kernel.events_ns), Microseconds(kernel.records_ns),
              kernel.flops / ns, kernel.bytes / ns,
              Microseconds(kernel.predicted_ns), VerdictText(graph),
              BitsText(graph)));
    }
  }
  return text;
}

std::string PredictionTable(const std::vector<GeneratedGraph>& graphs) {
  // Of each family: |predicted / measured - 1|, and predicted / measured.
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>>
      families;
  for (const GeneratedGraph& graph : graphs) {
    if (graph.wrong()) continue;
    for (const GeneratedKernel& kernel : graph.kernels) {
      if (kernel.predicted_ns <= 0 || kernel.best_ns() <= 0) continue;
      const double ratio = kernel.predicted_ns / kernel.best_ns();
      for (const std::string& family : {graph.graph.family, std::string("~")}) {
        families[family].first.push_back(std::abs(ratio - 1));
        families[family].second.push_back(ratio);
      }
    }
  }
  std::string text =
      "| family | kernels | median of predicted over measured | median error "
      "|\n|---|---|---|---|\n";
  for (const auto& [family, values] : families) {
    absl::StrAppend(
        &text,
        absl::StrFormat("| %s | %d | %.2f | %.0f %% |\n",
                        family == "~" ? "all" : family, values.first.size(),
                        Median(values.second), 100 * Median(values.first)));
  }
  return text;
}

std::string ChainTable(const std::vector<GeneratedGraph>& graphs,
                       double copy_bytes_per_ns) {
  std::string text = absl::StrFormat(
      "A copy kernel moves %.0f GB/s.\n\n| chain | storage | kernels | us | "
      "GB/s | share of the copy |\n|---|---|---|---|---|---|\n",
      copy_bytes_per_ns);
  for (const GeneratedGraph& graph : graphs) {
    if (graph.wrong() || graph.graph.family != "chain") continue;
    double ns = 0, bytes = 0;
    for (const GeneratedKernel& kernel : graph.kernels) {
      ns += kernel.best_ns();
      bytes += kernel.bytes;
    }
    const double rate = bytes / std::max(ns, 1.0);
    absl::StrAppend(
        &text,
        absl::StrFormat(
            "| %s | %s | %d | %s | %.0f | %s |\n", graph.graph.name,
            graph.graph.storage == DType::kFloat16 ? "fp16" : "fp32",
            graph.kernels.size(), Microseconds(ns), rate,
            copy_bytes_per_ns > 0
                ? absl::StrFormat("%.0f %%", 100 * rate / copy_bytes_per_ns)
                : ""));
  }
  return text;
}

}  // namespace tilewright::cuda
