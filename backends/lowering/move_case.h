// Random data movement under its default schedule, for tests of everything
// below schedules.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_MOVE_CASE_H_
#define TILEWRIGHT_BACKENDS_LOWERING_MOVE_CASE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "backends/lowering/random_case.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::lowering {

// sketch::DrawMove(seed) for a machine. Inputs of even seeds are integers
// whose results are exact.
absl::StatusOr<RandomCase> DrawMoveCase(uint64_t seed, const DeviceSpec& spec);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_MOVE_CASE_H_
