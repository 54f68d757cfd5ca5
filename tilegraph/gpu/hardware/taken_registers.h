// The registers that a compiler gives each thread, by what its values need.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_TAKEN_REGISTERS_H_
#define TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_TAKEN_REGISTERS_H_

#include <cstdint>

#include "backends/spec/device_spec.pb.h"

namespace tilewright {

// The most that a thread of such a block can have: the rest is spilled.
int64_t MostRegisters(const ComputeUnit& unit, int64_t threads);

// The most, in whole units or all that there are, with which as many blocks are
// resident as with `registers`, whatever else limits them. REQUIRES: at most
// MostRegisters.
int64_t FreeRegisters(const ComputeUnit& unit, int64_t registers,
                      int64_t threads);

// `live`: registers that its values need at the same time; `with_loads`: with
// loads that could be moved ahead
// (backends/kernel_ir/analysis/live_registers.h). A compiler moves them as long
// as that costs no resident block, all or few of them: what is returned lies
// between. What it adds is fitted to what NVRTC 13.0 takes
// (docs/results/gpu.md). REQUIRES: at least one thread.
int64_t TakenRegisters(const ComputeUnit& unit, int64_t live,
                       int64_t with_loads, int64_t threads);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_TAKEN_REGISTERS_H_
