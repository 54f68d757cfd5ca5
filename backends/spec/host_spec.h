// The spec of the CPU that runs this program: CPUID structure plus committed
// figures, those of its family where one was measured, else those of its
// feature class. Nothing is measured here.
#ifndef TILEWRIGHT_BACKENDS_SPEC_HOST_SPEC_H_
#define TILEWRIGHT_BACKENDS_SPEC_HOST_SPEC_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright {

// One data or unified cache, as CPUID leaf 4 (or 0x8000001d) tells.
struct CacheInfo {
  int level = 0;
  int64_t capacity_bytes = 0;
  int64_t line_bytes = 0;
  int64_t threads_sharing = 1;  // hardware threads that may use one instance
};

// Facts that the machine tells about itself.
struct HostStructure {
  // CPUID's vendor and family, of Intel's the model too: "AuthenticAMD 26",
  // "GenuineIntel 6 207".
  std::string family;
  std::vector<CacheInfo> caches;
  int64_t cores = 1;  // hardware threads this process may run on
};
HostStructure QueryHostStructure();

// The committed spec for hosts of this family and `cpu_class`, its caches and
// cores replaced by those of `host`. The name becomes "cpu"; deterministic.
absl::StatusOr<DeviceSpec> CpuSpec(std::string_view cpu_class,
                                   const HostStructure& host);

// CpuSpec of the largest class the host has. Unimplemented if it is older than
// x86-64-v2.
absl::StatusOr<DeviceSpec> HostSpec();

// The host as if the process might use `cores` hardware threads of it.
// REQUIRES: cores >= 1.
absl::StatusOr<DeviceSpec> HostSpecWithCores(int64_t cores);

}  // namespace tilewright

#endif  // TILEWRIGHT_BACKENDS_SPEC_HOST_SPEC_H_
