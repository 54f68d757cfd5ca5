// A graph as kernels for a GPU: planned, scheduled and compiled as 'tilewright
// compile' does it, without a model around it.
#ifndef TILEWRIGHT_TOOLS_GPU_PLANNED_GRAPH_H_
#define TILEWRIGHT_TOOLS_GPU_PLANNED_GRAPH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "compiler/kernels/kernel_maker.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::cuda {

struct PlannedKernel {
  CompiledKernel kernel;
  std::vector<TensorId> args;  // of the graph
  double predicted_ns = 0;     // 0: it was planned without tiles
  std::string tile;            // of its output, "128 x 64"
  double flops = 0;
  double bytes = 0;  // that must move at least
};

struct PlannedGraph {
  TensorGraph graph;
  std::vector<PlannedKernel> kernels;  // in an order in which they can run
  std::string module, target;
};

// For the device of codegen.spec(). Errors are the parser's, the planner's and
// the generator's.
absl::StatusOr<PlannedGraph> PlanGraph(const std::string& text,
                                       const backends::Codegen& codegen);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_TOOLS_GPU_PLANNED_GRAPH_H_
