#include "tilegraph/cost/core_levels.h"

#include <algorithm>
#include <limits>

namespace tilewright {
namespace {

constexpr double kUnknownBytesPerS = 1e10;

double Or(double value, double otherwise) {
  return value > 0 ? value : otherwise;
}

}  // namespace

std::vector<MemoryLevel> LevelsOfCore(const DeviceSpec& spec) {
  std::vector<MemoryLevel> levels(spec.levels().begin(), spec.levels().end());
  for (MemoryLevel& level : levels) {
    const int64_t sharing =
        std::min(level.cores_sharing(), spec.unit().cores());
    if (sharing > 1) level.set_capacity_bytes(level.capacity_bytes() / sharing);
  }
  return levels;
}

int ClosestLevel(const DeviceSpec& spec) {
  int level = spec.levels_size() - 1;
  while (level > 0 && spec.levels(level).kind() == MemoryLevel::REGISTER)
    --level;
  return level;
}

int PrivateLevel(const DeviceSpec& spec) {
  const int closest = ClosestLevel(spec);
  for (int level = 1; level < closest; ++level) {
    if (spec.levels(level).scope() == MemoryLevel::CORE) return level;
  }
  return closest;
}

double CapacityBytes(const MemoryLevel& level) {
  return level.capacity_bytes() > 0
             ? static_cast<double>(level.capacity_bytes())
             : std::numeric_limits<double>::infinity();
}

double ReadBytesPerS(const MemoryLevel& level) {
  return Or(level.read_bytes_per_s(), kUnknownBytesPerS);
}
double WriteBytesPerS(const MemoryLevel& level) {
  return Or(level.write_bytes_per_s(), ReadBytesPerS(level));
}
double AllReadBytesPerS(const MemoryLevel& level) {
  return Or(level.aggregate_read_bytes_per_s(), ReadBytesPerS(level));
}
double AllWriteBytesPerS(const MemoryLevel& level) {
  return Or(level.aggregate_write_bytes_per_s(), WriteBytesPerS(level));
}

}  // namespace tilewright
