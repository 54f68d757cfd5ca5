// The child that builds candidates.
#ifndef TILEWRIGHT_MEASURE_WORKER_BUILDER_WORKER_H_
#define TILEWRIGHT_MEASURE_WORKER_BUILDER_WORKER_H_

#include "absl/status/status.h"
#include "measure/worker/message_channel.h"
#include "measure/worker/protocol.pb.h"
#include "measure/worker/worker_backend.h"

namespace tilewright::measure {

// Answers requests until the channel ends, which is its result.
absl::Status ServeBuilds(MessageChannel& channel, const WorkerBackend& backend,
                         const WorkerSetup& setup);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_WORKER_BUILDER_WORKER_H_
