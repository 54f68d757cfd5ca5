// Blocks of threads on a core of a GPU: how many are resident at once, and how
// much of the machine a grid of them leaves idle.
//
// Resources are given out in units: registers to warps, divided among the
// core's schedulers, scratchpad to blocks (source: the rules of
// cuda_occupancy.h, with the units of the spec; AMD's are the same with other
// units).
#ifndef TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_OCCUPANCY_H_
#define TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_OCCUPANCY_H_

#include <cstdint>
#include <string_view>

#include "backends/spec/device_spec.pb.h"

namespace tilewright {

struct BlockResources {
  int64_t threads = 0;
  int64_t registers_per_thread = 0;  // of 32 bits
  int64_t scratchpad_bytes = 0;
};

struct Occupancy {
  enum class Limit { kBlocks, kThreads, kRegisters, kScratchpad };
  int64_t blocks_per_core = 0;  // 0: not even one
  Limit limit = Limit::kBlocks;
};
std::string_view Name(Occupancy::Limit limit);  // "registers"

// REQUIRES: at least one thread, and unit.warp_size() > 0.
Occupancy OccupancyOf(const ComputeUnit& unit, const BlockResources& block);

// Waves in which `blocks` run (Welder: num_wave).
int64_t Waves(int64_t blocks, int64_t blocks_per_core, int64_t cores);

// How many times longer `blocks` equal blocks take than their work divided
// evenly over all cores at their full rate; at least 1. Alone on a core, a
// block reaches `block_rate` of that, in (0, 1]; b of them min(1, b *
// block_rate). At 1 / blocks_per_core, where a core needs all of them, this is
// waves over what would be waves without rounding; at 1 it is the unevenness of
// blocks over cores.
double WaveQuantisation(int64_t blocks, int64_t blocks_per_core, int64_t cores,
                        double block_rate);

// Turns of the lanes of all warps over `elements`: at least 1, and 1 if
// `threads` is a multiple of the warp and divides `elements`.
double ThreadQuantisation(int64_t elements, int64_t threads, int64_t warp_size);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_HARDWARE_OCCUPANCY_H_
