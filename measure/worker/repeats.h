// How often a candidate is executed, as it crosses to a worker.
#ifndef TILEWRIGHT_MEASURE_WORKER_REPEATS_H_
#define TILEWRIGHT_MEASURE_WORKER_REPEATS_H_

#include "measure/parallel/adaptive_evaluator.h"
#include "measure/worker/protocol.pb.h"

namespace tilewright::measure {

Repeats ToProto(const AdaptiveEvaluatorOptions& options);
AdaptiveEvaluatorOptions FromProto(const Repeats& proto);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_WORKER_REPEATS_H_
