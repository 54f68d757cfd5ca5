#include "backends/spec/caches.h"

#include "gtest/gtest.h"

namespace tilewright {
namespace {

MemoryLevel& Add(DeviceSpec& spec, const char* name, MemoryLevel::Kind kind,
                 MemoryLevel::Scope scope, int64_t capacity_bytes) {
  MemoryLevel& level = *spec.add_levels();
  level.set_name(name);
  level.set_kind(kind);
  level.set_scope(scope);
  level.set_capacity_bytes(capacity_bytes);
  return level;
}

TEST(CachesTest, AreFoundWhateverTheyAreCalled) {
  DeviceSpec spec;
  Add(spec, "ddr", MemoryLevel::MEMORY, MemoryLevel::HOST, 0);
  Add(spec, "system", MemoryLevel::CACHE, MemoryLevel::DEVICE, 4000);
  Add(spec, "cluster", MemoryLevel::CACHE, MemoryLevel::CLUSTER, 3000);
  Add(spec, "big", MemoryLevel::CACHE, MemoryLevel::CORE, 200);
  Add(spec, "small", MemoryLevel::CACHE, MemoryLevel::CORE, 10);
  Add(spec, "registers", MemoryLevel::REGISTER, MemoryLevel::THREAD, 1);
  EXPECT_EQ(FirstCacheBytes(spec), 10);
  EXPECT_EQ(PrivateCacheBytes(spec), 200);
  EXPECT_EQ(SharedCacheBytes(spec), 4000);
  EXPECT_EQ(LargestCacheBytes(spec), 4000);
}

TEST(CachesTest, MayBeMissing) {
  DeviceSpec spec;
  Add(spec, "hbm", MemoryLevel::MEMORY, MemoryLevel::DEVICE, 0);
  Add(spec, "shared", MemoryLevel::SCRATCHPAD, MemoryLevel::CORE, 100);
  Add(spec, "unknown", MemoryLevel::CACHE, MemoryLevel::CORE, 0);
  EXPECT_EQ(FirstCacheBytes(spec), 32 << 10);
  EXPECT_EQ(PrivateCacheBytes(spec), 1 << 20);
  EXPECT_EQ(PrivateCacheBytes(spec, 5), 5);
  EXPECT_EQ(SharedCacheBytes(spec), 0);
  EXPECT_EQ(LargestCacheBytes(spec), 0);
  EXPECT_EQ(LargestCacheBytes(spec, 7), 7);
}

}  // namespace
}  // namespace tilewright
