// The identity of a machine.
#ifndef TILEWRIGHT_BACKENDS_SPEC_SPEC_FINGERPRINT_H_
#define TILEWRIGHT_BACKENDS_SPEC_SPEC_FINGERPRINT_H_

#include "backends/spec/device_spec.pb.h"
#include "base/fingerprint.h"

namespace tilewright {

// Identifies what the machine is: target, levels with capacities, units,
// features. Not its name, not what was measured (rates, latencies, costs), not
// the sources. Keys tuning records.
Fingerprint StructureFingerprint(const DeviceSpec& spec);

}  // namespace tilewright

#endif  // TILEWRIGHT_BACKENDS_SPEC_SPEC_FINGERPRINT_H_
