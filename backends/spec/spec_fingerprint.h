// Fingerprints of a DeviceSpec: `structure` keys tuning records and compiled models; `full` is stored in plans.
#ifndef TILEWRIGHT_BACKENDS_SPEC_SPEC_FINGERPRINT_H_
#define TILEWRIGHT_BACKENDS_SPEC_SPEC_FINGERPRINT_H_

#include "backends/spec/device_spec.pb.h"
#include "base/fingerprint.h"

namespace tilewright {

// Target, levels, capacities, units and features: what decides which code is right and which schedules are legal. Names, measured
// rates, times and sources do not count.
Fingerprint StructureFingerprint(const DeviceSpec& spec);
// Everything.
Fingerprint FullFingerprint(const DeviceSpec& spec);

}  // namespace tilewright

#endif  // TILEWRIGHT_BACKENDS_SPEC_SPEC_FINGERPRINT_H_
