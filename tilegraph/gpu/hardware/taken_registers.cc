#include "tilegraph/gpu/hardware/taken_registers.h"

#include <algorithm>
#include <limits>

#include "base/ceil_div.h"
#include "tilegraph/gpu/hardware/occupancy.h"

namespace tilewright {
namespace {

// For addresses of what moves through memory; fitted.
constexpr int64_t kAddedRegisters = 6;

// In which a thread gets them.
int64_t UnitOf(const ComputeUnit& unit) {
  return std::max<int64_t>(1, unit.register_allocation_unit() /
                                  std::max<int64_t>(1, unit.warp_size()));
}

}  // namespace

int64_t MostRegisters(const ComputeUnit& unit, int64_t threads) {
  int64_t most = unit.registers_per_thread() > 0
                     ? unit.registers_per_thread()
                     : std::numeric_limits<int64_t>::max();
  if (unit.registers_per_block() > 0) {
    // Warps get them in units, as many for each scheduler.
    const int64_t warp = std::max<int64_t>(1, unit.warp_size());
    const int64_t schedulers = std::max<int64_t>(1, unit.schedulers_per_core());
    const int64_t warps =
        CeilDiv(CeilDiv(threads, warp), schedulers) * schedulers;
    const int64_t unit_of =
        std::max<int64_t>(1, unit.register_allocation_unit());
    most = std::min(
        most, unit.registers_per_block() / warps / unit_of * unit_of / warp);
  }
  return most;
}

int64_t FreeRegisters(const ComputeUnit& unit, int64_t registers,
                      int64_t threads) {
  const auto blocks = [&](int64_t taken) {
    return OccupancyOf(unit, {threads, taken, 0}).blocks_per_core;
  };
  const int64_t most = MostRegisters(unit, threads), step = UnitOf(unit);
  int64_t free = std::min(most, CeilDiv(registers, step) * step);
  while (free + step <= most && blocks(free + step) == blocks(registers))
    free += step;
  return free;
}

int64_t TakenRegisters(const ComputeUnit& unit, int64_t live,
                       int64_t with_loads, int64_t threads) {
  const int64_t needed =
      std::min(live + kAddedRegisters, MostRegisters(unit, threads));
  // Of those that are free it takes all or few, which is hard to foresee: half
  // of them is least wrong.
  const int64_t free = FreeRegisters(unit, needed, threads);
  return std::max(needed, std::min(with_loads + kAddedRegisters,
                                   needed + (free - needed) / 2));
}

}  // namespace tilewright
