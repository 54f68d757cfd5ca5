// The kernel that a schedule becomes, as far as two of them are the same.
#ifndef TILEWRIGHT_BENCH_DECISIONS_KERNEL_OF_H_
#define TILEWRIGHT_BENCH_DECISIONS_KERNEL_OF_H_

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "base/fingerprint.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"

namespace tilewright::bench {

// The fingerprint of its listing in the scalar tier. An error says which stage
// refused it: "replay: ...", "lower: ..." or "legalize: ...".
absl::StatusOr<Fingerprint> KernelOf(const sketch::Workload& workload,
                                     const sketch::Schedule& schedule,
                                     const backends::Codegen& codegen);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_DECISIONS_KERNEL_OF_H_
