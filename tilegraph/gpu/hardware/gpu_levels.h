// The memory levels of a device spec as blocks of threads use them, and at
// which of them the tensors between kernels lie. Names of levels are for people
// alone: what a level is for follows from its kind and scope.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_GPU_LEVELS_H_
#define TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_GPU_LEVELS_H_

#include <optional>

#include "backends/spec/device_spec.pb.h"
#include "tilegraph/gpu/hardware/warp_access.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// They point into the spec.
struct GpuLevels {
  const MemoryLevel* memory = nullptr;
  // Between the memory and the cores, for all of them: the outermost, where
  // blocks find what others loaded, and the innermost, from which cores load.
  // A cache (L2), or the scratchpads of all cores where these read each
  // other's. Both are the memory if there is none.
  const MemoryLevel* reuse = nullptr;
  const MemoryLevel* near = nullptr;
  const MemoryLevel* scratchpad = nullptr;  // of a core
  const MemoryLevel* registers = nullptr;
  // Bytes of `reuse` that a tensor may take and still be there for the next
  // kernel.
  double kept_bytes = 0;

  bool shares() const { return reuse != memory; }
};

// None if kernels cannot be planned in blocks of threads for this device: they
// need cores with a scratchpad.
std::optional<GpuLevels> GpuLevelsOf(const DeviceSpec& spec);

// Of its scratchpad.
Banks BanksOf(const GpuLevels& levels);

// Where a tensor lies that some kernel reads or writes: what goes from one to
// another stays in `reuse` if it may, what the model is given and gives lies in
// memory.
const MemoryLevel& LevelBetweenKernels(const TensorGraph& graph, TensorId id,
                                       const GpuLevels& levels);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_GPU_LEVELS_H_
