// Executes a candidate until its latency is known well enough.
#ifndef TILEWRIGHT_MEASURE_WORKER_EXECUTE_H_
#define TILEWRIGHT_MEASURE_WORKER_EXECUTE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/device.h"
#include "backends/device_timer.h"
#include "measure/machine/steady_core.h"
#include "measure/worker/cold_cache.h"
#include "measure/worker/loaded_candidate.h"
#include "measure/worker/protocol.pb.h"

namespace tilewright::measure {

struct Executions {
  int64_t duration_ns = 0;  // wall time of all of them, without waits
  int64_t count = 0;
};

// As often as `repeats` says (adaptive_evaluator.h), before each sample behind
// `flusher` if there is one. With a `core` that begins when it is steady, and
// is done up to three times in all if it was disturbed. `report` gets the
// latencies of some 20 ms at a time; its error ends everything and is the outer
// status, the inner one is the device's. REQUIRES: `loaded` is placed.
absl::StatusOr<absl::StatusOr<Executions>> Execute(
    LoadedCandidate& loaded, const Repeats& repeats, backends::Stream& stream,
    backends::Timer& timer, CacheFlusher* flusher, SteadyCore* core,
    const std::function<absl::Status(const std::vector<double>&)>& report);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_WORKER_EXECUTE_H_
