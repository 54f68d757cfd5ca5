// A CPU's caches as one core sees them, found by what they are: the names of
// levels are for people.
#ifndef TILEWRIGHT_BACKENDS_SPEC_CACHES_H_
#define TILEWRIGHT_BACKENDS_SPEC_CACHES_H_

#include <cstdint>
#include <optional>

#include "backends/spec/device_spec.pb.h"

namespace tilewright {

// Capacities of one instance. Nothing where the spec has no such cache, or does
// not say how large it is.

// The one closest to a core's registers.
std::optional<int64_t> FirstCacheBytes(const DeviceSpec& spec);
// The largest that a core has for itself.
std::optional<int64_t> PrivateCacheBytes(const DeviceSpec& spec);
// The last before memory that cores share.
std::optional<int64_t> SharedCacheBytes(const DeviceSpec& spec);

}  // namespace tilewright

#endif  // TILEWRIGHT_BACKENDS_SPEC_CACHES_H_
