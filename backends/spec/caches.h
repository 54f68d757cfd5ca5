// A CPU's caches as one core sees them, found by what they are: the names of
// levels are for people.
#ifndef TILEWRIGHT_BACKENDS_SPEC_CACHES_H_
#define TILEWRIGHT_BACKENDS_SPEC_CACHES_H_

#include <cstdint>

#include "backends/spec/device_spec.pb.h"

namespace tilewright {

// Capacities of one instance; `otherwise` where the spec has no such cache, or
// does not say how large it is.

// The one closest to a core's registers.
int64_t FirstCacheBytes(const DeviceSpec& spec,
                        int64_t otherwise = int64_t{32} << 10);
// The largest that a core has for itself.
int64_t PrivateCacheBytes(const DeviceSpec& spec,
                          int64_t otherwise = int64_t{1} << 20);
// The last before memory that cores share.
int64_t SharedCacheBytes(const DeviceSpec& spec, int64_t otherwise = 0);
// The largest of all.
int64_t LargestCacheBytes(const DeviceSpec& spec, int64_t otherwise = 0);

}  // namespace tilewright

#endif  // TILEWRIGHT_BACKENDS_SPEC_CACHES_H_
