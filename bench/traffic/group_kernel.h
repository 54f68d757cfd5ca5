// The kernel of one group of a compiled model, for chains of kernels that run
// outside of the model.
#ifndef TILEWRIGHT_BENCH_TRAFFIC_GROUP_KERNEL_H_
#define TILEWRIGHT_BENCH_TRAFFIC_GROUP_KERNEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "bench/traffic/kernel_chain.h"
#include "compiler/kernels/kernel_maker.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright::bench {

// The kernel of `group` of `plan`, a plan of `graph`. Tensors between kernels
// are buffers named after them, shared by all kernels, as the plan lays them
// out; constants are packed for each kernel, named after `name`. Errors of the
// maker.
absl::StatusOr<ChainKernel> KernelOfGroup(const TensorGraph& graph,
                                          const Plan& plan, const Group& group,
                                          KernelMaker& maker,
                                          const std::string& name);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_TRAFFIC_GROUP_KERNEL_H_
