#include "backends/spec/caches.h"

namespace tilewright {
namespace {

bool IsCache(const MemoryLevel& level, bool of_a_core) {
  return level.kind() == MemoryLevel::CACHE && level.capacity_bytes() > 0 &&
         (level.scope() == MemoryLevel::CORE) == of_a_core;
}

// Levels stand from the outermost in.
std::optional<int64_t> Outermost(const DeviceSpec& spec, bool of_a_core) {
  for (const MemoryLevel& level : spec.levels()) {
    if (IsCache(level, of_a_core)) return level.capacity_bytes();
  }
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> FirstCacheBytes(const DeviceSpec& spec) {
  std::optional<int64_t> first;
  for (const MemoryLevel& level : spec.levels()) {
    if (IsCache(level, /*of_a_core=*/true)) first = level.capacity_bytes();
  }
  return first;
}

std::optional<int64_t> PrivateCacheBytes(const DeviceSpec& spec) {
  return Outermost(spec, /*of_a_core=*/true);
}

std::optional<int64_t> SharedCacheBytes(const DeviceSpec& spec) {
  return Outermost(spec, /*of_a_core=*/false);
}

}  // namespace tilewright
