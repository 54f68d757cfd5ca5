#include "backends/cache_sim/cache_hierarchy.h"

#include <algorithm>

#include "base/check.h"

namespace tilewright::cache_sim {

CacheHierarchy::CacheHierarchy(const DeviceSpec& spec, int64_t ways) {
  std::string outer = spec.levels(0).name();
  for (const MemoryLevel& level : spec.levels()) {
    if (level.kind() != MemoryLevel::CACHE) continue;
    Cache cache;
    cache.line_bytes = std::max<int64_t>(1, level.read_transaction_bytes());
    const int64_t lines =
        std::max<int64_t>(1, level.capacity_bytes() / cache.line_bytes);
    cache.ways = ways > 0 ? std::min(ways, lines) : lines;
    cache.sets.resize(std::max<int64_t>(1, lines / cache.ways));
    caches_.push_back(std::move(cache));
    crossings_.push_back({outer, level.name(), 0, 0});
    outer = level.name();
  }
}

void CacheHierarchy::Access(uint64_t address, int64_t size_bytes,
                            bool is_store) {
  TW_CHECK_GT(size_bytes, 0);
  Touch(static_cast<int>(caches_.size()) - 1, address, size_bytes, is_store);
}

void CacheHierarchy::Touch(int level, uint64_t address, int64_t size_bytes,
                           bool is_store) {
  if (level < 0) return;
  Cache& cache = caches_[level];
  const uint64_t line_bytes = static_cast<uint64_t>(cache.line_bytes);
  const uint64_t last =
      (address + static_cast<uint64_t>(size_bytes) - 1) / line_bytes;
  for (uint64_t number = address / line_bytes; number <= last; ++number) {
    std::list<Line>& set = cache.sets[number % cache.sets.size()];
    const auto found = cache.where.find(number);
    if (found != cache.where.end()) {
      found->second->dirty |= is_store;
      set.splice(set.begin(), set, found->second);
      continue;
    }
    if (static_cast<int64_t>(set.size()) == cache.ways) {
      const Line least = set.back();
      cache.where.erase(least.number);
      set.pop_back();
      WriteBack(level, least);
    }
    crossings_[level].read_bytes += cache.line_bytes;
    Touch(level - 1, number * line_bytes, cache.line_bytes, false);
    set.push_front({number, is_store});
    cache.where[number] = set.begin();
  }
}

void CacheHierarchy::WriteBack(int level, const Line& line) {
  if (!line.dirty) return;
  const Cache& cache = caches_[level];
  crossings_[level].write_bytes += cache.line_bytes;
  Touch(level - 1, line.number * static_cast<uint64_t>(cache.line_bytes),
        cache.line_bytes, true);
}

void CacheHierarchy::Forget(uint64_t address, int64_t size_bytes) {
  for (Cache& cache : caches_) {
    const uint64_t line_bytes = static_cast<uint64_t>(cache.line_bytes);
    const uint64_t end = address + static_cast<uint64_t>(size_bytes);
    for (uint64_t number = address / line_bytes; number * line_bytes < end;
         ++number) {
      const auto found = cache.where.find(number);
      if (found != cache.where.end()) found->second->dirty = false;
    }
  }
}

void CacheHierarchy::Flush() {
  for (int level = static_cast<int>(caches_.size()) - 1; level >= 0; --level) {
    // In the order of addresses: sets say nothing about it.
    std::vector<uint64_t> dirty;
    for (std::list<Line>& set : caches_[level].sets) {
      for (Line& line : set) {
        if (line.dirty) dirty.push_back(line.number);
        line.dirty = false;
      }
    }
    std::sort(dirty.begin(), dirty.end());
    for (const uint64_t number : dirty) WriteBack(level, {number, true});
  }
}

void CacheHierarchy::ResetCrossings() {
  for (Crossing& crossing : crossings_)
    crossing.read_bytes = crossing.write_bytes = 0;
}

}  // namespace tilewright::cache_sim
