// The share of a GPU's peak, or of its bandwidth, that a kernel cannot exceed,
// from what its compiler made of it. No time is measured or predicted: every
// part is the least that the hardware takes, and parts overlap perfectly.
//
// In clocks of a core (an SM), for one block:
//
//   multiply-adds  a warp's take 32 / lanes clocks: 64 fp32 lanes on sm_80, 128
//                  on sm_90 (CUDA C++ Programming Guide, "Arithmetic
//                  Instructions": results per clock and SM)
//   issue          four schedulers issue one instruction of a warp per clock
//                  each (NVIDIA A100 and H100 Tensor Core GPU Architecture);
//                  instructions are the multiply-adds over their share of the
//                  hot loop
//   shared         32 banks of four bytes give a word per clock each (CUDA C++
//                  Programming Guide, "Shared Memory"): turns of all accesses.
//                  Memory comes through the same 128 bytes a clock
//   cache, memory  what moves, over a core's part of the bandwidth
//   latency        a block that waits w times for what it loads takes at least
//                  w latencies of the cache next to the cores and its own work;
//                  as many as are resident go on at the same time. What is
//                  loaded before multiply-adds is hidden by them, or they by
//                  it. It is named as the limit where waits take longer than
//                  the block's own work
//   grid           the core with the most blocks is the last; memory alone
//                  serves the busy cores as well as all
//
// Clock, lanes, schedulers, bandwidths, latency: of the spec.
#ifndef TILEWRIGHT_BENCH_GPU_KERNEL_BOUND_H_
#define TILEWRIGHT_BENCH_GPU_KERNEL_BOUND_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "backends/spec/device_spec.pb.h"
#include "bench/gpu/block_work.h"

namespace tilewright {

struct KernelFacts {
  int64_t blocks = 1;
  // Resident on a core (occupancy.h), with the registers and shared bytes that
  // the compiler says.
  int64_t resident = 1;
  BlockWork work;
  // Of the multiply-adds among the instructions of the hot loop; 0: there are
  // none.
  double fma_share = 0;
  // Of the whole kernel: what has to be computed, and what has to move between
  // memory and the caches, and between those and the cores.
  double useful_operations = 0;  // a multiply-add counts two
  double useful_memory_bytes = 0, useful_near_bytes = 0;
  // What moves, in whole sectors.
  double memory_bytes = 0, near_bytes = 0;
};

struct KernelBound {
  enum Limit {
    kMultiplyAdds,
    kIssue,
    kShared,
    kNear,
    kMemory,
    kLatency,
    kGrid
  };
  static constexpr int kLimits = 7;
  // What it could be bound by at best: the peak, or a bandwidth.
  bool product = false;
  double ideal_seconds = 0;  // there
  // Of that peak or bandwidth, if nothing else limited it; at most 1.
  std::array<double, kLimits> shares = {};
  double share = 1;             // with all limits
  Limit limit = kMultiplyAdds;  // that it comes from
};
std::string_view Name(KernelBound::Limit limit);  // "multiply-adds"

// REQUIRES: GpuLevelsOf(spec), at least one block, resident, and something to
// compute or to move.
KernelBound BoundOf(const DeviceSpec& spec, const KernelFacts& facts);

}  // namespace tilewright

#endif  // TILEWRIGHT_BENCH_GPU_KERNEL_BOUND_H_
