// Processes of this binary that measure candidates: for a search several of one
// thread at a time, for comparisons one after the other.
#ifndef TILEWRIGHT_TOOLS_TUNE_MEASURING_H_
#define TILEWRIGHT_TOOLS_TUNE_MEASURING_H_

#include <memory>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "compiler/compile.h"
#include "measure/parallel/measurer.h"
#include "measure/record/record.pb.h"
#include "measure/worker/pool/process_pool.h"
#include "tools/tune/tuned_device.h"

namespace tilewright::tools {

struct Measuring {
  std::unique_ptr<measure::Measurer> measurer;
  // The measurer's own; its counts are read when it does not measure.
  const measure::ProcessPool* pool = nullptr;
};

// How kernels of this model find their operands: constants in memory, if all of
// the model's are more than the device's caches hold, else everything where the
// execution before has left it.
measure::Method::Cache CacheOf(const CompiledModel& model,
                               const DeviceSpec& spec);

struct MeasuringOptions {
  TunedDevice device;
  int cores = 1, threads = 1;  // of the host; threads: of a candidate
  measure::Method::Cache cache = measure::Method::WARM;
  bool verify = false;
};

// For a search: the device as a farm of one. Without `verify` times count
// although nobody looked at the results: the reference of a convolution takes
// longer than a round of its candidates. REQUIRES: the binary's main begins
// with RunWorkerIfAsked for the device's backend.
absl::StatusOr<Measuring> StartMeasuring(const MeasuringOptions& options);

// For comparisons: few short executions, for there are several rounds.
absl::StatusOr<Measuring> StartComparing(const MeasuringOptions& options);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_TUNE_MEASURING_H_
