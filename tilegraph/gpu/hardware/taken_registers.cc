#include "tilegraph/gpu/hardware/taken_registers.h"

#include <algorithm>
#include <limits>

#include "base/ceil_div.h"

namespace tilewright {
namespace {

// For addresses of what moves through memory.
constexpr int64_t kAddedRegisters = 8;

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

int64_t TakenRegisters(const ComputeUnit& unit, int64_t live, int64_t threads) {
  return std::min(live + kAddedRegisters, MostRegisters(unit, threads));
}

}  // namespace tilewright
