#include "tilegraph/gpu/hardware/taken_registers.h"

#include <algorithm>
#include <limits>

#include "base/ceil_div.h"

namespace tilewright {
namespace {

// For addresses of what moves through memory.
constexpr int64_t kAddedRegisters = 8;

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

int64_t FreeRegisters(const ComputeUnit& unit, int64_t threads) {
  const int64_t warp = std::max<int64_t>(1, unit.warp_size());
  int64_t resident = unit.max_threads_per_core();
  if (unit.max_blocks_per_core() > 0)
    resident = std::min(
        resident, unit.max_blocks_per_core() * CeilDiv(threads, warp) * warp);
  const int64_t most = MostRegisters(unit, threads);
  if (resident == 0) return most;
  return std::min(
      most, unit.registers_per_core() / resident / UnitOf(unit) * UnitOf(unit));
}

int64_t TakenRegisters(const ComputeUnit& unit, int64_t live,
                       int64_t with_loads, int64_t threads) {
  // It stops a unit before the last.
  const int64_t ahead = std::min(with_loads + kAddedRegisters,
                                 FreeRegisters(unit, threads) - UnitOf(unit));
  return std::min(std::max(live + kAddedRegisters, ahead),
                  MostRegisters(unit, threads));
}

}  // namespace tilewright
