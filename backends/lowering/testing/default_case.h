// Workloads under their default schedules as cases, for tests of everything
// below schedules.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_TESTING_DEFAULT_CASE_H_
#define TILEWRIGHT_BACKENDS_LOWERING_TESTING_DEFAULT_CASE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "backends/lowering/testing/random_case.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/testing/fused_workloads.h"
#include "sketch/testing/move_workloads.h"
#include "sketch/testing/row_workloads.h"
#include "sketch/testing/window_workloads.h"
#include "sketch/trace/workload.h"

namespace tilewright::lowering {

// Workloads that have a default schedule of their own.
struct Family {
  const char* name;
  sketch::Workload (*draw)(uint64_t seed);
};
inline constexpr Family kFamilies[] = {{"moves", sketch::DrawMove},
                                       {"rows", sketch::DrawRows},
                                       {"windows", sketch::DrawWindow}};

// Inputs are drawn from `seed`, for even ones integers whose results are exact.
absl::StatusOr<RandomCase> DefaultCase(sketch::Workload workload,
                                       const DeviceSpec& spec, uint64_t seed);

// The same for a group that is computed tile by tile; inputs are never exact.
absl::StatusOr<RandomCase> FusedCase(const sketch::FusedWorkload& fused,
                                     const DeviceSpec& spec, uint64_t seed);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_TESTING_DEFAULT_CASE_H_
