// What the bound of a kernel follows from (kernel_bound.h), of a compiled
// model's.
#ifndef TILEWRIGHT_BENCH_GPU_KERNEL_FACTS_H_
#define TILEWRIGHT_BENCH_GPU_KERNEL_FACTS_H_

#include "backends/spec/device_spec.pb.h"
#include "bench/gpu/instruction_mix.h"
#include "bench/gpu/kernel_bound.h"
#include "compiler/compile.h"
#include "tilegraph/gpu/gpu_tile_plan.h"

namespace tilewright {

// The tile of the first group that the kernel computes; null if it was planned
// without one.
const GpuTilePlan* TilesOfKernel(const CompiledModel& model, int kernel);

// `hot`: the mix of its hot loop. What moves is what its plan says, or what
// must if it has none: what the model is given and gives through memory, the
// rest where it lies between kernels; of the cores not more than the sectors
// that its accesses touch. REQUIRES: the kernel has threads, and its report
// registers.
KernelFacts FactsOf(const CompiledModel& model, int kernel,
                    const DeviceSpec& spec, const InstructionMix& hot);

}  // namespace tilewright

#endif  // TILEWRIGHT_BENCH_GPU_KERNEL_FACTS_H_
