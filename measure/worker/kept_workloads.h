// The facts that a measurer keeps about the workloads whose candidates come.
#ifndef TILEWRIGHT_MEASURE_WORKER_KEPT_WORKLOADS_H_
#define TILEWRIGHT_MEASURE_WORKER_KEPT_WORKLOADS_H_

#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "measure/verify/hidden_bytes.h"
#include "measure/verify/packed_tensors.h"
#include "measure/verify/verifier.h"
#include "sketch/trace/workload.h"

namespace tilewright::measure {

struct KeptWorkload {
  std::string text;
  sketch::Workload workload;
  HiddenInputs inputs;  // that candidates are measured with
  PackedTensors packed{kMostPackedBytes};
  std::unique_ptr<Verifier> verifier;  // once there is one

  int64_t size_bytes() const;

  static constexpr int64_t kMostPackedBytes = int64_t{64} << 20;
};

// Workloads take turns for hours, and their references take seconds: they are
// kept as long as there is room.
class KeptWorkloads {
 public:
  KeptWorkloads(int64_t most_bytes, uint64_t input_seed)
      : most_bytes_(most_bytes), input_seed_(input_seed) {}

  // The workload of that text, which becomes the latest one. Valid until the
  // next call for another one.
  absl::StatusOr<KeptWorkload*> Get(const std::string& text);

  // Forgets those that were asked for longest ago until the others fit; never
  // the latest one.
  void Shrink();

  int size() const { return static_cast<int>(workloads_.size()); }

 private:
  const int64_t most_bytes_;
  const uint64_t input_seed_;
  std::list<KeptWorkload> workloads_;  // the latest first
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_WORKER_KEPT_WORKLOADS_H_
