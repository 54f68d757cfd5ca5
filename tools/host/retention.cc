#include "tools/host/retention.h"

#include <algorithm>

#include "base/clock.h"
#include "measure/machine/memory_loops.h"
#include "measure/stats/median.h"

namespace tilewright::tools {
namespace {

using ::tilewright::measure::Median;

constexpr double kShortestWaitNs = 0.25e6, kLongestWaitNs = 64e6;
constexpr int kRounds = 11;

int64_t OutermostCacheBytes(const DeviceSpec& structure) {
  for (const MemoryLevel& level : structure.levels()) {
    if (level.kind() == MemoryLevel::CACHE) return level.capacity_bytes();
  }
  return 0;
}

}  // namespace

std::vector<HostFacts::Retention> RetentionsOf(const DeviceSpec& structure,
                                               char* memory,
                                               int64_t memory_bytes) {
  const int64_t cache_bytes = OutermostCacheBytes(structure);
  const int64_t set_bytes = cache_bytes / 4 / 512 * 512;
  if (set_bytes == 0 || memory_bytes < 2 * cache_bytes) return {};
  const measure::MemoryPass read = measure::AllMemoryLoops().front().read;
  Clock& clock = *RealClock();
  volatile int sink = 0;
  const auto ns_after = [&](auto between) {
    sink = read(memory, set_bytes);
    between();
    const int64_t start_ns = clock.WallNs();
    sink = read(memory, set_bytes);
    return static_cast<double>(clock.WallNs() - start_ns);
  };
  // The process goes on meanwhile as a kernel does that works in registers.
  const auto wait = [&](double ns) {
    const int64_t end_ns = clock.WallNs() + static_cast<int64_t>(ns);
    while (clock.WallNs() < end_ns) {
    }
  };
  std::vector<double> waits_ns;
  for (double ns = kShortestWaitNs; ns <= kLongestWaitNs; ns *= 2)
    waits_ns.push_back(ns);
  std::vector<double> cached_ns, evicted_ns;
  std::vector<std::vector<double>> after_ns(waits_ns.size());
  for (int round = 0; round < kRounds; ++round) {
    cached_ns.push_back(ns_after([] {}));
    evicted_ns.push_back(ns_after([&] { sink = read(memory, memory_bytes); }));
    for (size_t i = 0; i < waits_ns.size(); ++i)
      after_ns[i].push_back(ns_after([&] { wait(waits_ns[i]); }));
  }
  const double least = Median(cached_ns), most = Median(evicted_ns);
  if (!(least < most)) return {};
  std::vector<HostFacts::Retention> retentions;
  for (size_t i = 0; i < waits_ns.size(); ++i) {
    const double kept = (most - Median(after_ns[i])) / (most - least);
    retentions.push_back({waits_ns[i], std::clamp(kept, 0.0, 1.0)});
  }
  return retentions;
}

double RetentionNs(const std::vector<HostFacts::Retention>& retentions) {
  HostFacts::Retention before = {0, 1};
  for (const HostFacts::Retention& point : retentions) {
    if (point.kept <= 0.5) {
      const double way = (before.kept - 0.5) / (before.kept - point.kept);
      return before.wait_ns + way * (point.wait_ns - before.wait_ns);
    }
    before = point;
  }
  return 0;
}

}  // namespace tilewright::tools
