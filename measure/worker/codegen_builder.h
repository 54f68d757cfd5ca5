// Builds candidates with a code generator.
#ifndef TILEWRIGHT_MEASURE_WORKER_CODEGEN_BUILDER_H_
#define TILEWRIGHT_MEASURE_WORKER_CODEGEN_BUILDER_H_

#include <memory>

#include "backends/codegen.h"
#include "measure/worker/worker_backend.h"

namespace tilewright::measure {

// Replays the schedule, lowers, legalizes and emits: one module, one kernel.
BuildFunction CodegenBuilder(std::shared_ptr<const backends::Codegen> codegen);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_WORKER_CODEGEN_BUILDER_H_
