#include "bench/gpu/kernel_bound.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "tilegraph/gpu/hardware/gpu_levels.h"

namespace tilewright {
namespace {

// Of a core, per clock.
struct CoreRates {
  double clock_per_s = 1;
  double fma_lanes = 1;
  double warp_instructions = 1;
  double near_bytes = 1, memory_bytes = 1;  // its part of what all cores get
};

double PeakOf(const ComputeUnit& unit) {
  for (const PeakRate& peak : unit.peaks())
    if (peak.dtype() == "f32" && peak.unit() == PeakRate::VECTOR)
      return peak.core_ops_per_s();
  return 1;
}

CoreRates RatesOf(const DeviceSpec& spec, const GpuLevels& levels) {
  const ComputeUnit& unit = spec.unit();
  CoreRates rates;
  // Its banks give a row of words per clock.
  rates.clock_per_s =
      levels.scratchpad->read_bytes_per_s() /
      static_cast<double>(levels.scratchpad->banks() *
                          levels.scratchpad->bank_width_bytes());
  rates.fma_lanes = PeakOf(unit) / 2 / rates.clock_per_s;
  rates.warp_instructions = static_cast<double>(unit.schedulers_per_core());
  const auto part = [&](const MemoryLevel& level) {
    return level.aggregate_read_bytes_per_s() /
           static_cast<double>(unit.cores()) / rates.clock_per_s;
  };
  rates.near_bytes = part(*levels.near);
  rates.memory_bytes = part(*levels.memory);
  return rates;
}

}  // namespace

std::string_view Name(KernelBound::Limit limit) {
  switch (limit) {
    case KernelBound::kMultiplyAdds:
      return "multiply-adds";
    case KernelBound::kIssue:
      return "issue";
    case KernelBound::kShared:
      return "shared memory";
    case KernelBound::kNear:
      return "cache";
    case KernelBound::kMemory:
      return "memory";
    case KernelBound::kLatency:
      return "latency";
    case KernelBound::kGrid:
      return "grid";
  }
  return "";
}

KernelBound BoundOf(const DeviceSpec& spec, const KernelFacts& facts) {
  const GpuLevels levels = *GpuLevelsOf(spec);
  const CoreRates rates = RatesOf(spec, levels);
  const auto warp = static_cast<double>(spec.unit().warp_size());
  const auto blocks = static_cast<double>(facts.blocks);
  const BlockWork& work = facts.work;

  // Clocks of a core for one block: as needed at best, and as it is.
  const double compute = facts.useful_operations / 2 / rates.fma_lanes / blocks;
  const double move = std::max(facts.useful_memory_bytes / rates.memory_bytes,
                               facts.useful_near_bytes / rates.near_bytes) /
                      blocks;
  const double ideal = std::max(compute, move);
  std::array<double, KernelBound::kLimits> clocks = {};
  clocks[KernelBound::kMultiplyAdds] = work.warp_fmas * warp / rates.fma_lanes;
  if (facts.fma_share > 0)
    clocks[KernelBound::kIssue] =
        work.warp_fmas / facts.fma_share / rates.warp_instructions;
  const auto row = static_cast<double>(levels.scratchpad->banks() *
                                       levels.scratchpad->bank_width_bytes());
  clocks[KernelBound::kShared] =
      work.shared_turns +
      work.sectors *
          static_cast<double>(levels.near->read_transaction_bytes()) / row;
  clocks[KernelBound::kNear] = facts.near_bytes / blocks / rates.near_bytes;
  const double own = *std::max_element(clocks.begin(), clocks.end());
  clocks[KernelBound::kMemory] =
      facts.memory_bytes / blocks / rates.memory_bytes;

  // Blocks of the busiest core, as many at a time as are resident.
  const int64_t on_core = CeilDiv(facts.blocks, spec.unit().cores());
  const double latency = levels.near->latency_ns() * 1e-9 * rates.clock_per_s;
  const double waits =
      work.waits * latency + std::max(0.0, work.covered_waits * latency - own);
  const double block = own + waits;
  clocks[KernelBound::kLatency] =
      block / static_cast<double>(std::min(on_core, facts.resident));

  KernelBound bound;
  bound.product = compute >= move;
  bound.ideal_seconds = ideal * blocks / rates.clock_per_s /
                        static_cast<double>(spec.unit().cores());
  // What cores have of their own is idle with them.
  double& grid = bound.shares[KernelBound::kGrid];
  grid = blocks / static_cast<double>(on_core * spec.unit().cores());
  bound.share = 1;
  for (int limit = 0; limit < KernelBound::kGrid; ++limit) {
    if (clocks[limit] <= 0) {
      bound.shares[limit] = 1;
      continue;
    }
    const bool of_core = limit != KernelBound::kMemory;
    const double even = ideal / clocks[limit];
    const double share = even * (of_core ? grid : 1);
    bound.shares[limit] = std::min(1.0, even);
    if (share >= bound.share) continue;
    bound.share = share;
    // Latency adds to what the block does itself.
    if (limit == KernelBound::kLatency && waits < own &&
        bound.limit != KernelBound::kMemory)
      continue;
    bound.limit = of_core && grid < bound.shares[limit]
                      ? KernelBound::kGrid
                      : static_cast<KernelBound::Limit>(limit);
  }
  return bound;
}

}  // namespace tilewright
