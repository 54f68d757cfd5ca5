#include "backends/spec/host_spec.h"

#include <cpuid.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/spec/cpu_features.h"
#include "backends/spec/load_spec.h"
#include "backends/spec/set_source.h"
#include "base/parallel_for.h"
#include "base/status_macros.h"

namespace tilewright {
namespace {

// AMD describes its caches in an extended leaf of the same form.
uint32_t CacheLeaf() {
  uint32_t a, b, c, d;
  constexpr uint32_t kAmdLeaf = 0x8000001d;
  if (__get_cpuid_count(4, 0, &a, &b, &c, &d) && (a & 0x1f) != 0) return 4;
  return kAmdLeaf;
}

std::vector<CacheInfo> QueryCaches() {
  std::vector<CacheInfo> caches;
  const uint32_t leaf = CacheLeaf();
  for (uint32_t index = 0; index < 16; ++index) {
    uint32_t a, b, c, d;
    if (!__get_cpuid_count(leaf, index, &a, &b, &c, &d)) break;
    const uint32_t type = a & 0x1f;  // 1 data, 2 instruction, 3 unified
    if (type == 0) break;
    if (type == 2) continue;
    CacheInfo cache;
    cache.level = a >> 5 & 7;
    cache.threads_sharing = (a >> 14 & 0xfff) + 1;
    cache.line_bytes = (b & 0xfff) + 1;
    const int64_t partitions = (b >> 12 & 0x3ff) + 1;
    const int64_t ways = (b >> 22) + 1;
    const int64_t sets = static_cast<int64_t>(c) + 1;
    cache.capacity_bytes = cache.line_bytes * partitions * ways * sets;
    caches.push_back(cache);
  }
  return caches;
}

// "AuthenticAMD 26"; of Intel's with the model, since cores of twenty years are
// of family 6: "GenuineIntel 6 207".
std::string QueryFamily() {
  uint32_t a, b, c, d;
  if (!__get_cpuid(0, &a, &b, &c, &d)) return "";
  const uint32_t words[] = {b, d, c};
  const std::string vendor(reinterpret_cast<const char*>(words), sizeof(words));
  if (!__get_cpuid(1, &a, &b, &c, &d)) return "";
  const uint32_t base = a >> 8 & 0xf, extended = a >> 20 & 0xff;
  std::string family =
      absl::StrCat(vendor, " ", base == 0xf ? base + extended : base);
  if (vendor == "GenuineIntel")
    absl::StrAppend(&family, " ", (a >> 16 & 0xf) << 4 | (a >> 4 & 0xf));
  return family;
}

// The committed spec for hosts of such a family whose modules are built for
// `target`: that of the family if there is one, else that of the class.
absl::StatusOr<DeviceSpec> CommittedSpec(const std::string& target,
                                         const std::string& family) {
  for (const std::string& name : BuiltinSpecNames()) {
    TW_ASSIGN_OR_RETURN(DeviceSpec spec, LoadSpec(name));
    const auto& families = spec.cpu_families();
    if (spec.target() == target &&
        std::find(families.begin(), families.end(), family) != families.end())
      return spec;
  }
  return LoadSpec(target);
}

// Rates of one core stay those of the class; aggregates follow the core count.
void ScaleAggregates(MemoryLevel& level, double factor) {
  level.set_aggregate_read_bytes_per_s(level.aggregate_read_bytes_per_s() *
                                       factor);
  level.set_aggregate_write_bytes_per_s(level.aggregate_write_bytes_per_s() *
                                        factor);
}

}  // namespace

HostStructure QueryHostStructure() {
  HostStructure host;
  host.family = QueryFamily();
  host.caches = QueryCaches();
  host.cores = UsableCpus();
  return host;
}

absl::StatusOr<DeviceSpec> CpuSpec(std::string_view cpu_class,
                                   const HostStructure& host) {
  TW_RETURN_IF_ERROR(CpuClassFeatures(cpu_class));
  TW_ASSIGN_OR_RETURN(
      DeviceSpec spec,
      CommittedSpec(absl::StrCat("cpu:", std::string(cpu_class)), host.family));
  spec.set_name("cpu");
  const double factor = static_cast<double>(host.cores) /
                        static_cast<double>(spec.unit().cores());
  spec.mutable_unit()->set_cores(host.cores);
  SetSource(*spec.mutable_unit(), Source::DRIVER, {"cores"},
            "sched_getaffinity");
  for (MemoryLevel& level : *spec.mutable_levels()) {
    if (level.scope() == MemoryLevel::HOST) {
      level.set_cores_sharing(host.cores);
      SetSource(level, Source::DRIVER, {"cores_sharing"}, "sched_getaffinity");
      // The committed aggregate is that of the class's cores; a single core
      // cannot exceed its own rate.
      ScaleAggregates(level, std::min(1.0, factor));
      continue;
    }
    if (level.kind() == MemoryLevel::REGISTER) {
      level.set_instances(host.cores);
      SetSource(level, Source::DRIVER, {"instances"}, "sched_getaffinity");
      continue;
    }
    for (const CacheInfo& cache : host.caches) {
      if (level.name() != absl::StrCat("l", cache.level)) continue;
      // Hardware threads of other processes do not count.
      const int64_t sharing = std::min(cache.threads_sharing, host.cores);
      level.set_capacity_bytes(cache.capacity_bytes);
      level.set_read_transaction_bytes(cache.line_bytes);
      level.set_write_transaction_bytes(cache.line_bytes);
      level.set_cores_sharing(std::max<int64_t>(1, sharing));
      level.set_instances(std::max<int64_t>(
          1, (host.cores + level.cores_sharing() - 1) / level.cores_sharing()));
      SetSource(level, Source::DRIVER,
                {"capacity_bytes", "instances", "cores_sharing",
                 "read_transaction_bytes", "write_transaction_bytes"},
                "CPUID cache leaf, sched_getaffinity");
    }
    ScaleAggregates(level, factor);
  }
  TW_RETURN_IF_ERROR(ValidateSpec(spec));
  return spec;
}

absl::StatusOr<DeviceSpec> HostSpec() {
  return HostSpecWithCores(QueryHostStructure().cores);
}

absl::StatusOr<DeviceSpec> HostSpecWithCores(int64_t cores) {
  TW_ASSIGN_OR_RETURN(const std::string cpu_class,
                      BestCpuClass(HostCpuFeatures()));
  HostStructure host = QueryHostStructure();
  host.cores = cores;
  return CpuSpec(cpu_class, host);
}

}  // namespace tilewright
