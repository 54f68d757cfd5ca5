#include "tools/profile/limits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "backends/spec/load_spec.h"
#include "base/check.h"

namespace tilewright::tools {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr int kFmaSamples = 4;
// The least size of the working set that stands for memory.
constexpr int64_t kSmallestMemorySet = int64_t{64} << 20;

double CapacityInUse(const MemoryLevel& level, int threads) {
  if (level.kind() == MemoryLevel::MEMORY) return kUnlimited;
  const int64_t sharing = std::max<int64_t>(1, level.cores_sharing());
  const int64_t instances = std::min(std::max<int64_t>(1, level.instances()),
                                     (threads + sharing - 1) / sharing);
  return static_cast<double>(level.capacity_bytes() * instances);
}

// Caches and memory, innermost first, without bandwidths.
std::vector<Limits::Level> Structure(const DeviceSpec& spec, int threads) {
  std::vector<Limits::Level> levels;
  for (const MemoryLevel& level : spec.levels()) {
    if (level.kind() == MemoryLevel::CACHE ||
        level.kind() == MemoryLevel::MEMORY)
      levels.push_back({level.name(), CapacityInUse(level, threads), 0});
  }
  std::reverse(levels.begin(), levels.end());
  return levels;
}

}  // namespace

const Limits::Level& Limits::LevelFor(double bytes) const {
  TW_CHECK(!levels.empty());
  for (const Level& level : levels) {
    if (bytes <= level.capacity_bytes) return level;
  }
  return levels.back();
}

Limits LimitsOfSpec(const DeviceSpec& spec, int threads) {
  Limits limits;
  limits.source = absl::StrCat("device spec ", spec.name());
  limits.gflops = CorePeak(spec, "f32", PeakRate::VECTOR) * threads * 1e-9;
  for (Limits::Level level : Structure(spec, threads)) {
    const MemoryLevel& known = *FindLevel(spec, level.name);
    const double all = known.aggregate_read_bytes_per_s() > 0
                           ? known.aggregate_read_bytes_per_s()
                           : kUnlimited;
    // What all cores share has no rate of one core on a GPU.
    const double each =
        known.read_bytes_per_s() > 0 ? known.read_bytes_per_s() * threads : all;
    level.gbytes_per_s = std::isinf(each) ? 0 : std::min(each, all) * 1e-9;
    if (level.gbytes_per_s > 0 || known.kind() == MemoryLevel::MEMORY)
      limits.levels.push_back(level);
  }
  return limits;
}

LimitSampler::LimitSampler(const DeviceSpec& spec, int threads)
    : fma_(threads) {
  structure_.source =
      absl::StrCat("measured in this run, ", measure::FmaPeakInstructions());
  structure_.levels = Structure(spec, threads);
  double largest = 0;
  for (const Limits::Level& level : structure_.levels) {
    // Half a cache, so that nothing else pushes it out; several times the
    // largest of them for memory.
    const bool is_memory = level.capacity_bytes == kUnlimited;
    if (!is_memory) largest = std::max(largest, level.capacity_bytes);
    memory_.push_back(std::make_unique<measure::MemoryPeak>(
        threads, is_memory ? std::max(kSmallestMemorySet,
                                      static_cast<int64_t>(4 * largest))
                           : static_cast<int64_t>(level.capacity_bytes / 2)));
  }
}

void LimitSampler::Sample() {
  for (int i = 0; i < kFmaSamples; ++i) fma_.Sample();
  for (const auto& memory : memory_) memory->Sample();
}

Limits LimitSampler::limits() const {
  Limits limits = structure_;
  limits.gflops = fma_.best_gflops();
  for (size_t i = 0; i < memory_.size(); ++i)
    limits.levels[i].gbytes_per_s = memory_[i]->best_gbytes_per_s();
  return limits;
}

}  // namespace tilewright::tools
