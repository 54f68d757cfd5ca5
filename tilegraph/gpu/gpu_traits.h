// Why two devices get different plans: traits of one spec put into the other
// until it is planned alike (gpu_plans_test, print_gpu_plans).
#ifndef TILEWRIGHT_TILEGRAPH_GPU_GPU_TRAITS_H_
#define TILEWRIGHT_TILEGRAPH_GPU_GPU_TRAITS_H_

#include <string>
#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "tilegraph/gpu/gpu_kernels.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Where the results of `plan` are on their way to each reader, spelt alike for
// all devices: "C->R registers, R->P scratchpad, S->Y on chip, Y->Z memory".
std::string LevelsText(const TensorGraph& graph, const GpuPlan& plan);

enum class GpuTrait {
  kCores,       // how many, and the threads of each
  kScratchpad,  // its size
  kScratchpadBandwidth,
  kRegisters,
  kPeaks,   // with matrix units
  kOnChip,  // caches, or the scratchpads of all cores
  kMemory,  // its bandwidth
  kLaunch   // with barriers
};
std::vector<GpuTrait> AllGpuTraits();
std::string Name(GpuTrait trait);

// `spec` with these traits of `other`. REQUIRES: GpuLevelsOf both.
DeviceSpec WithTraits(DeviceSpec spec, const DeviceSpec& other,
                      const std::vector<GpuTrait>& traits);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_GPU_TRAITS_H_
