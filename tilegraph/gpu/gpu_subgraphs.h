// Ten subgraphs of real models on which plans for GPUs are checked and shown
// (gpu_plans_test, print_gpu_plans).
#ifndef TILEWRIGHT_TILEGRAPH_GPU_GPU_SUBGRAPHS_H_
#define TILEWRIGHT_TILEGRAPH_GPU_GPU_SUBGRAPHS_H_

#include <string>
#include <vector>

#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

struct GpuSubgraph {
  std::string name;
  TensorGraph graph;
  Plan plan;  // of its register groups
};

std::vector<GpuSubgraph> GpuSubgraphs();

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_GPU_SUBGRAPHS_H_
