#include "tools/host/measured_spec.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/spec/load_spec.h"
#include "backends/spec/set_source.h"
#include "base/status_macros.h"
#include "tools/host/retention.h"

namespace tilewright::tools {
namespace {

// The capacity of all instances that so many threads use.
double CapacityInUse(const MemoryLevel& level, int threads) {
  const int64_t sharing = std::max<int64_t>(1, level.cores_sharing());
  const int64_t instances = std::min(std::max<int64_t>(1, level.instances()),
                                     (threads + sharing - 1) / sharing);
  return static_cast<double>(level.capacity_bytes() * instances);
}

bool Answers(const MemoryLevel& level) {
  return level.kind() == MemoryLevel::CACHE ||
         level.kind() == MemoryLevel::MEMORY;
}

// Collects what is set, so that one source names it all.
template <typename Message>
class Measured {
 public:
  Measured(Message& message, const HostFacts& facts)
      : message_(message),
        detail_(absl::StrCat(facts.command, ", ", facts.date)) {}
  ~Measured() {
    if (!fields_.empty())
      SetSource(message_, Source::MEASURED, fields_, detail_);
  }
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;

  void Set(const char* field, double value, void (Message::*set)(double)) {
    if (!(value > 0)) return;
    (message_.*set)(value);
    fields_.push_back(field);
  }

 private:
  Message& message_;
  const std::string detail_;
  std::vector<std::string> fields_;
};

// Three significant digits: more would pretend.
double Rounded(double value) {
  double rounded = 0;
  return value > 0 && absl::SimpleAtod(absl::StrFormat("%.3g", value), &rounded)
             ? rounded
             : 0;
}

void SetLevel(const HostFacts& facts, const DeviceSpec& spec, int index,
              MemoryLevel& level) {
  const auto rate = [&](const char* loop, int threads) {
    return Rounded(LevelBandwidth(facts, spec, index, loop, threads));
  };
  Measured<MemoryLevel> measured(level, facts);
  measured.Set("read_bytes_per_s", rate("read", 1),
               &MemoryLevel::set_read_bytes_per_s);
  measured.Set("write_bytes_per_s", rate("write", 1),
               &MemoryLevel::set_write_bytes_per_s);
  measured.Set("aggregate_read_bytes_per_s", rate("read", facts.threads),
               &MemoryLevel::set_aggregate_read_bytes_per_s);
  measured.Set("aggregate_write_bytes_per_s", rate("write", facts.threads),
               &MemoryLevel::set_aggregate_write_bytes_per_s);
  measured.Set("latency_ns", Rounded(LevelLatencyNs(facts, spec, index)),
               &MemoryLevel::set_latency_ns);
  const bool is_outermost_cache =
      level.kind() == MemoryLevel::CACHE &&
      (index == 0 || spec.levels(index - 1).kind() != MemoryLevel::CACHE);
  if (is_outermost_cache)
    measured.Set("retention_ns", Rounded(RetentionNs(facts.retentions)),
                 &MemoryLevel::set_retention_ns);
}

}  // namespace

WorkingSets WorkingSetsOf(const DeviceSpec& spec, int level, int threads) {
  const MemoryLevel& self = spec.levels(level);
  const bool is_memory = self.kind() == MemoryLevel::MEMORY;
  double inside = 0;
  for (int i = level + 1; i < spec.levels_size(); ++i) {
    if (spec.levels(i).kind() == MemoryLevel::CACHE) {
      inside = std::max(inside, CapacityInUse(spec.levels(i), threads));
    }
  }
  WorkingSets sets;
  sets.from_bytes = static_cast<int64_t>(inside * (is_memory ? 3 : 1.5));
  sets.to_bytes =
      is_memory ? std::numeric_limits<int64_t>::max()
                : static_cast<int64_t>(CapacityInUse(self, threads) * 0.75);
  return sets;
}

double LevelBandwidth(const HostFacts& facts, const DeviceSpec& spec, int level,
                      const std::string& loop, int threads) {
  const WorkingSets sets = WorkingSetsOf(spec, level, threads);
  double best = 0;
  for (const HostFacts::Bandwidth& point : facts.bandwidths) {
    if (point.loop == loop && point.threads == threads &&
        sets.Contain(point.bytes)) {
      best = std::max(best, point.bytes_per_s);
    }
  }
  return best;
}

double LevelLatencyNs(const HostFacts& facts, const DeviceSpec& spec,
                      int level) {
  const WorkingSets sets = WorkingSetsOf(spec, level, 1);
  std::vector<double> found;
  for (const HostFacts::Latency& point : facts.latencies) {
    if (sets.Contain(point.bytes)) found.push_back(point.ns);
  }
  if (found.empty()) return 0;
  std::nth_element(found.begin(), found.begin() + found.size() / 2,
                   found.end());
  return found[found.size() / 2];
}

absl::StatusOr<DeviceSpec> MeasuredSpec(const DeviceSpec& structure,
                                        const HostFacts& facts) {
  DeviceSpec spec = structure;
  for (int i = 0; i < spec.levels_size(); ++i) {
    if (Answers(spec.levels(i))) {
      SetLevel(facts, structure, i, *spec.mutable_levels(i));
    }
  }
  for (PeakRate& rate : *spec.mutable_unit()->mutable_peaks()) {
    for (const HostFacts::Peak& peak : facts.peaks) {
      if (peak.threads != 1 || peak.dtype != rate.dtype() ||
          rate.unit() != PeakRate::VECTOR) {
        continue;
      }
      Measured<PeakRate>(rate, facts)
          .Set("core_ops_per_s", Rounded(peak.ops_per_s),
               &PeakRate::set_core_ops_per_s);
    }
  }
  {
    Measured<ComputeUnit> unit(*spec.mutable_unit(), facts);
    unit.Set("launch_ns", Rounded(facts.CostNs("launch")),
             &ComputeUnit::set_launch_ns);
    unit.Set("barrier_ns", Rounded(facts.CostNs("barrier")),
             &ComputeUnit::set_barrier_ns);
  }
  TW_RETURN_IF_ERROR(ValidateSpec(spec));
  return spec;
}

}  // namespace tilewright::tools
