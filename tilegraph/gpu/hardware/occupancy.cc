#include "tilegraph/gpu/hardware/occupancy.h"

#include <algorithm>
#include <limits>

#include "base/ceil_div.h"

namespace tilewright {
namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

int64_t RoundUp(int64_t value, int64_t unit) {
  return unit > 1 ? CeilDiv(value, unit) * unit : value;
}

// A limit that the spec does not state does not limit.
int64_t Known(int64_t limit) { return limit > 0 ? limit : kUnlimited; }

int64_t ByThreads(const ComputeUnit& unit, const BlockResources& block,
                  int64_t warps) {
  if (block.threads > Known(unit.max_threads_per_block())) return 0;
  return Known(unit.max_threads_per_core()) / (warps * unit.warp_size());
}

int64_t ByRegisters(const ComputeUnit& unit, const BlockResources& block,
                    int64_t warps) {
  if (block.registers_per_thread == 0) return kUnlimited;
  if (block.registers_per_thread > Known(unit.registers_per_thread())) return 0;
  const int64_t of_warp = RoundUp(block.registers_per_thread * unit.warp_size(),
                                  unit.register_allocation_unit());
  const int64_t schedulers = std::max<int64_t>(1, unit.schedulers_per_core());
  if (of_warp * RoundUp(warps, schedulers) > Known(unit.registers_per_block()))
    return 0;
  const int64_t resident =
      Known(unit.registers_per_core()) / schedulers / of_warp * schedulers;
  return resident / warps;
}

int64_t ByScratchpad(const ComputeUnit& unit, const BlockResources& block) {
  if (block.scratchpad_bytes > Known(unit.scratchpad_bytes_per_block()))
    return 0;
  const int64_t taken =
      RoundUp(block.scratchpad_bytes + unit.scratchpad_reserved_bytes(),
              unit.scratchpad_allocation_bytes());
  return taken == 0 ? kUnlimited
                    : Known(unit.scratchpad_bytes_per_core()) / taken;
}

}  // namespace

std::string_view Name(Occupancy::Limit limit) {
  switch (limit) {
    case Occupancy::Limit::kBlocks:
      return "blocks";
    case Occupancy::Limit::kThreads:
      return "threads";
    case Occupancy::Limit::kRegisters:
      return "registers";
    case Occupancy::Limit::kScratchpad:
      return "scratchpad";
  }
  return "";
}

Occupancy OccupancyOf(const ComputeUnit& unit, const BlockResources& block) {
  const int64_t warps = CeilDiv(block.threads, unit.warp_size());
  Occupancy occupancy{Known(unit.max_blocks_per_core()),
                      Occupancy::Limit::kBlocks};
  const auto limit = [&](int64_t blocks, Occupancy::Limit by) {
    if (blocks < occupancy.blocks_per_core) occupancy = {blocks, by};
  };
  limit(ByThreads(unit, block, warps), Occupancy::Limit::kThreads);
  limit(ByRegisters(unit, block, warps), Occupancy::Limit::kRegisters);
  limit(ByScratchpad(unit, block), Occupancy::Limit::kScratchpad);
  return occupancy;
}

int64_t Waves(int64_t blocks, int64_t blocks_per_core, int64_t cores) {
  return CeilDiv(blocks, blocks_per_core * cores);
}

double WaveQuantisation(int64_t blocks, int64_t blocks_per_core, int64_t cores,
                        double block_rate) {
  // In units of what one block takes on a core at full rate.
  const auto time = [&](int64_t resident) {
    const auto b = static_cast<double>(resident);
    return b / std::min(1.0, b * block_rate);
  };
  const int64_t wave = blocks_per_core * cores;
  double total = static_cast<double>(blocks / wave) * time(blocks_per_core);
  if (blocks % wave > 0) total += time(CeilDiv(blocks % wave, cores));
  return total * static_cast<double>(cores) / static_cast<double>(blocks);
}

double ThreadQuantisation(int64_t elements, int64_t threads,
                          int64_t warp_size) {
  return static_cast<double>(CeilDiv(elements, threads) *
                             RoundUp(threads, warp_size)) /
         static_cast<double>(elements);
}

}  // namespace tilewright
