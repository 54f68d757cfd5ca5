#ifndef TILEWRIGHT_BACKENDS_SPEC_WITH_CORES_H_
#define TILEWRIGHT_BACKENDS_SPEC_WITH_CORES_H_

#include <cstdint>

#include "backends/spec/device_spec.pb.h"

namespace tilewright {

// `spec` with `cores` cores. What a core has for itself, every core has; what
// all cores share stays one, of the same capacity, shared by all of them; what
// some share, as many share. Rates of one core stay; together all cores get
// more of caches in proportion, of memory no more than before, and less if they
// are fewer. REQUIRES: cores >= 1; spec is valid.
DeviceSpec WithCores(DeviceSpec spec, int64_t cores);

}  // namespace tilewright

#endif  // TILEWRIGHT_BACKENDS_SPEC_WITH_CORES_H_
