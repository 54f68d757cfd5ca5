#include "backends/cuda/codegen/launch_bounds.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "tilegraph/gpu/hardware/taken_registers.h"

namespace tilewright::cuda {

std::vector<int64_t> BlocksToLeaveRoomFor(const ComputeUnit& unit,
                                          const BlockResources& spilled,
                                          int64_t blocks) {
  const int64_t resident = std::max<int64_t>(
      1, std::min(OccupancyOf(unit, spilled).blocks_per_core,
                  CeilDiv(blocks, std::max<int64_t>(1, unit.cores()))));
  // What a thread may have where so many blocks are resident.
  const auto registers = [&](int64_t blocks) {
    return MostRegisters(unit, blocks * spilled.threads);
  };
  const auto differs = [&](int64_t blocks, int64_t from) {
    return registers(blocks) != registers(from);
  };
  const int64_t most =
      OccupancyOf(unit, {spilled.threads, 0, 0}).blocks_per_core;
  std::vector<int64_t> counts = {resident};
  for (int64_t more = resident + 1;
       more <= most && registers(more) > spilled.registers_per_thread; ++more)
    if (differs(more, counts.back())) counts.push_back(more);
  int64_t last = resident;
  for (int64_t fewer = resident - 1; fewer > 0; --fewer) {
    if (!differs(fewer, last)) continue;
    counts.push_back(fewer);
    last = fewer;
  }
  return counts;
}

}  // namespace tilewright::cuda
