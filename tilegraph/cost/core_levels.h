// The memory levels of a spec as one core sees them.
#ifndef TILEWRIGHT_TILEGRAPH_COST_CORE_LEVELS_H_
#define TILEWRIGHT_TILEGRAPH_COST_CORE_LEVELS_H_

#include <vector>

#include "backends/spec/device_spec.pb.h"

namespace tilewright {

// All levels; of what cores share each has its part of the capacity.
std::vector<MemoryLevel> LevelsOfCore(const DeviceSpec& spec);

// Index into spec.levels of the largest level that a core has for itself; the
// innermost but registers if there is none.
int PrivateLevel(const DeviceSpec& spec);
// The innermost that is not registers.
int ClosestLevel(const DeviceSpec& spec);

// Infinite if unlimited.
double CapacityBytes(const MemoryLevel& level);

// Towards the next inner level; of one core alone, and of all together.
double ReadBytesPerS(const MemoryLevel& level);
double WriteBytesPerS(const MemoryLevel& level);
double AllReadBytesPerS(const MemoryLevel& level);
double AllWriteBytesPerS(const MemoryLevel& level);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_COST_CORE_LEVELS_H_
