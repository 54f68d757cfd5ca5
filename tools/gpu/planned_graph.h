// A graph as kernels for a GPU: planned, scheduled and compiled as 'tilewright
// compile' does it, without a model around it.
#ifndef TILEWRIGHT_TOOLS_GPU_PLANNED_GRAPH_H_
#define TILEWRIGHT_TOOLS_GPU_PLANNED_GRAPH_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "compiler/connect_gpu.h"
#include "compiler/kernels/kernel_maker.h"
#include "tilegraph/gpu/gpu_tile_plan.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::cuda {

struct PlannedKernel {
  CompiledKernel kernel;
  std::vector<TensorId> args;          // of the graph
  const GpuTilePlan* tiles = nullptr;  // of the graph's `gpu`, if it has some
  double flops = 0;
  double bytes = 0;  // that must move at least
};

struct PlannedGraph {
  TensorGraph graph;
  std::shared_ptr<const PlannedGpu> gpu;
  std::vector<PlannedKernel> kernels;  // in an order in which they can run
  std::string module, target;          // empty: no machine code was made
};

// For the device of codegen.spec(), without machine code. Errors are the
// parser's, the planner's and the generator's.
absl::StatusOr<PlannedGraph> PlanKernels(const std::string& text,
                                         const backends::Codegen& codegen);
// With it.
absl::StatusOr<PlannedGraph> PlanGraph(const std::string& text,
                                       const backends::Codegen& codegen);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_TOOLS_GPU_PLANNED_GRAPH_H_
