// What the generated kernels of tools/gpu/check_graphs.h do, counted, for a fit
// of a GPU's constants to the times that gpu_check measured there (fit.py). No
// GPU is needed.
//
//   kernel_counts SPEC > counts.tsv
//
// A row for each kernel, in gpu_check's order. SPEC is a name or a file: that
// which gpu_check printed, for other specs have other plans.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/kernel_ir/analysis/warp_instructions.h"
#include "backends/spec/device_spec.pb.h"
#include "backends/spec/load_spec.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "bench/gpu/block_work.h"
#include "compiler/kernels/memory_requests.h"
#include "tilegraph/gpu/gpu_tile_plan.h"
#include "tilegraph/gpu/hardware/gpu_levels.h"
#include "tools/backends.h"
#include "tools/gpu/check_graphs.h"
#include "tools/gpu/planned_graph.h"

namespace tilewright {
namespace {

// Squares that gpu_check multiplies, of those that are worth their planning.
constexpr int64_t kProducts[] = {2048, 4096, 8192};

void Print(const cuda::CheckGraph& graph, const kernel_ir::ScalarKernel& kernel,
           const GpuTilePlan* plan, const GpuLevels& levels) {
  std::printf("%s\t%s\t%s\t%lld\t%lld", graph.family.c_str(),
              graph.name.c_str(),
              graph.storage == DType::kFloat16 ? "fp16" : "fp32",
              static_cast<long long>(kernel.num_tasks),
              static_cast<long long>(kernel.threads));
  if (plan == nullptr || !kernel.has_threads()) {
    std::printf("\n");
    return;
  }
  const int64_t sector_bytes = levels.near->read_transaction_bytes();
  double lines = 0, turns = 0;
  for (const BufferRequests& of :
       CountRequests(kernel, BanksOf(levels), sector_bytes)) {
    lines += of.lines;
    turns += of.turns;
  }
  const BlockWork work = CountBlockWork(kernel, BanksOf(levels), sector_bytes);
  const double instructions =
      kernel_ir::WarpInstructions(kernel, kernel.num_tasks / 2) *
      static_cast<double>(kernel.num_tasks);
  std::printf("\t%lld\t%.6g\t%.6g\t%.6g\t%.6g\t%.6g\t%g\t%.6g\n",
              static_cast<long long>(plan->occupancy.blocks_per_core),
              instructions, lines, turns, plan->cost.near_bytes,
              plan->cost.memory_bytes, work.waits + work.covered_waits,
              plan->cost.seconds * 1e6);
}

absl::Status PrintGraph(const cuda::CheckGraph& graph,
                        const backends::Codegen& codegen) {
  TW_ASSIGN_OR_RETURN(const cuda::PlannedGraph planned,
                      cuda::PlanKernels(graph.TextOf(graph.rows), codegen));
  for (const cuda::PlannedKernel& kernel : planned.kernels)
    Print(graph, kernel.kernel.scalar, kernel.tiles,
          *GpuLevelsOf(codegen.spec()));
  return absl::OkStatus();
}

absl::Status Run(const std::string& name) {
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, LoadSpec(name));
  if (!GpuLevelsOf(spec))
    return absl::InvalidArgumentError("expected the spec of a GPU");
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<backends::Codegen> codegen,
                      tools::CodegenFor(spec));
  std::vector<cuda::CheckGraph> graphs =
      cuda::CheckGraphs(cuda::CheckSizes::kGpu);
  for (const int64_t n : kProducts) graphs.push_back(cuda::SquareProduct(n));
  std::printf(
      "family\tgraph\tstorage\tblocks\tthreads\tresident\tinstructions\tlines\t"
      "turns\tnear_bytes\tmemory_bytes\twaits\tpredicted_us\n");
  for (const cuda::CheckGraph& graph : graphs) {
    TW_RETURN_IF_ERROR(PrintGraph(graph, *codegen));
    std::fflush(stdout);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  tilewright::OptionParser parser;
  return tilewright::RunOnArguments(
      "kernel_counts", "kernel_counts SPEC > counts.tsv", parser,
      std::vector<std::string>(argv + 1, argv + argc),
      [&](const std::vector<std::string>& arguments) {
        return arguments.size() == 1 ? tilewright::Run(arguments[0])
                                     : absl::InvalidArgumentError("one spec");
      });
}
