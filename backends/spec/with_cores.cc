#include "backends/spec/with_cores.h"

#include <algorithm>

#include "backends/spec/set_source.h"

namespace tilewright {
namespace {

constexpr char kDetail[] = "the number of cores that was asked for";

void ScaleAggregates(MemoryLevel& level, double factor) {
  level.set_aggregate_read_bytes_per_s(level.aggregate_read_bytes_per_s() *
                                       factor);
  level.set_aggregate_write_bytes_per_s(level.aggregate_write_bytes_per_s() *
                                        factor);
}

}  // namespace

DeviceSpec WithCores(DeviceSpec spec, int64_t cores) {
  const int64_t before = spec.unit().cores();
  if (cores == before) return spec;
  const double factor =
      static_cast<double>(cores) / static_cast<double>(before);
  spec.mutable_unit()->set_cores(cores);
  SetSource(*spec.mutable_unit(), Source::DERIVED, {"cores"}, kDetail);
  for (MemoryLevel& level : *spec.mutable_levels()) {
    const bool of_one = level.scope() == MemoryLevel::CORE ||
                        level.scope() == MemoryLevel::THREAD;
    const int64_t sharing =
        !of_one && level.cores_sharing() >= before
            ? cores
            : std::clamp<int64_t>(level.cores_sharing(), 1, cores);
    level.set_cores_sharing(sharing);
    level.set_instances((cores + sharing - 1) / sharing);
    SetSource(level, Source::DERIVED, {"cores_sharing", "instances"}, kDetail);
    ScaleAggregates(level, level.kind() == MemoryLevel::MEMORY
                               ? std::min(1.0, factor)
                               : factor);
  }
  return spec;
}

}  // namespace tilewright
