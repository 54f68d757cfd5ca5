#include "backends/spec/caches.h"

#include <algorithm>

namespace tilewright {
namespace {

bool IsCache(const MemoryLevel& level, bool of_a_core) {
  return level.kind() == MemoryLevel::CACHE && level.capacity_bytes() > 0 &&
         (level.scope() == MemoryLevel::CORE) == of_a_core;
}

// Levels stand from the outermost in.
int64_t Outermost(const DeviceSpec& spec, bool of_a_core, int64_t otherwise) {
  for (const MemoryLevel& level : spec.levels()) {
    if (IsCache(level, of_a_core)) return level.capacity_bytes();
  }
  return otherwise;
}

}  // namespace

int64_t FirstCacheBytes(const DeviceSpec& spec, int64_t otherwise) {
  int64_t first = otherwise;
  for (const MemoryLevel& level : spec.levels()) {
    if (IsCache(level, /*of_a_core=*/true)) first = level.capacity_bytes();
  }
  return first;
}

int64_t PrivateCacheBytes(const DeviceSpec& spec, int64_t otherwise) {
  return Outermost(spec, /*of_a_core=*/true, otherwise);
}

int64_t SharedCacheBytes(const DeviceSpec& spec, int64_t otherwise) {
  return Outermost(spec, /*of_a_core=*/false, otherwise);
}

int64_t LargestCacheBytes(const DeviceSpec& spec, int64_t otherwise) {
  int64_t largest = 0;
  for (const MemoryLevel& level : spec.levels()) {
    if (level.kind() == MemoryLevel::CACHE)
      largest = std::max(largest, level.capacity_bytes());
  }
  return largest > 0 ? largest : otherwise;
}

}  // namespace tilewright
