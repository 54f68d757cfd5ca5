// From what was measured to a DeviceSpec.
#ifndef TILEWRIGHT_TOOLS_HOST_MEASURED_SPEC_H_
#define TILEWRIGHT_TOOLS_HOST_MEASURED_SPEC_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "tools/host/host_facts.h"

namespace tilewright::tools {

// The working sets that a level answers alone when so many threads share the
// work: beyond half as much again as the caches inside it hold, and within
// three quarters of what it holds itself; for memory from three times the
// outermost cache on.
struct WorkingSets {
  int64_t from_bytes = 0;
  int64_t to_bytes = 0;  // both included
  bool Contain(int64_t bytes) const {
    return from_bytes <= bytes && bytes <= to_bytes;
  }
};
WorkingSets WorkingSetsOf(const DeviceSpec& spec, int level, int threads);

// The best rate of a loop with a level's working sets, in bytes per second; 0
// if none was measured.
double LevelBandwidth(const HostFacts& facts, const DeviceSpec& spec, int level,
                      const std::string& loop, int threads);
// The median latency there, of one thread; 0 if none was measured.
double LevelLatencyNs(const HostFacts& facts, const DeviceSpec& spec,
                      int level);

// `structure` with the figures that were measured: bandwidths and latencies of
// caches and memory, how long the outermost cache keeps, costs, peaks of the
// types that the structure knows. Their source is MEASURED, with command and
// date; everything else stays as it was, and so does StructureFingerprint.
// InvalidArgument if what comes out is no valid spec.
absl::StatusOr<DeviceSpec> MeasuredSpec(const DeviceSpec& structure,
                                        const HostFacts& facts);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_HOST_MEASURED_SPEC_H_
