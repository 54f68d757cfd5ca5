// Schedules near the default one: candidates for benchmarks of measuring.
#ifndef TILEWRIGHT_BENCH_MEASURING_NEAR_DEFAULT_H_
#define TILEWRIGHT_BENCH_MEASURING_NEAR_DEFAULT_H_

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "base/random.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"

namespace tilewright::bench {

// The generator's schedule with one to three of its preferred decisions
// changed. An error if it refuses them; whether the schedule replays is for the
// caller to see.
absl::StatusOr<sketch::Schedule> NearDefault(const sketch::Generator& generator,
                                             const sketch::Workload& workload,
                                             const DeviceSpec& spec,
                                             Random& random);
// The same with the workload's first generator.
absl::StatusOr<sketch::Schedule> NearDefault(const sketch::Workload& workload,
                                             const DeviceSpec& spec,
                                             Random& random);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_MEASURING_NEAR_DEFAULT_H_
