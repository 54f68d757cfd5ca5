// The child that verifies and measures candidates on a device, one stream.
#ifndef TILEWRIGHT_MEASURE_WORKER_MEASURING_WORKER_H_
#define TILEWRIGHT_MEASURE_WORKER_MEASURING_WORKER_H_

#include "absl/status/status.h"
#include "measure/worker/message_channel.h"
#include "measure/worker/protocol.pb.h"
#include "measure/worker/worker_backend.h"

namespace tilewright::measure {

// Answers requests until the channel ends, which is its result.
absl::Status ServeMeasurements(MessageChannel& channel,
                               const WorkerBackend& backend,
                               const WorkerSetup& setup);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_WORKER_MEASURING_WORKER_H_
