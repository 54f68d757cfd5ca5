// A case of the table as Tilewright runs it: imported, compiled by the ordinary
// pipeline, loaded by the runtime.
#ifndef TILEWRIGHT_BENCH_KERNELS_OWN_CASE_H_
#define TILEWRIGHT_BENCH_KERNELS_OWN_CASE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/model/own_model.h"
#include "bench/options/target_class.h"
#include "compiler/kernels/schedule_source.h"
#include "frontends/onnx/import_model.h"

namespace tilewright::bench {

class OwnCase {
 public:
  // `schedules`: asked before the rules, may be null; used by Create alone.
  static absl::StatusOr<std::unique_ptr<OwnCase>> Create(
      const onnx::ModelProto& model, int threads,
      const TargetClass& target = {}, ScheduleSource* schedules = nullptr);

  // Runs once and compares with the reference interpreter at some points of
  // every output: DataLoss if one is wrong.
  absl::Status Check();

  // Runs once; the time of the steps that compute the case, without stem and
  // tail: CPU time of this thread if there is one, wall time otherwise.
  absl::StatusOr<int64_t> RunNs();

  // How many kernels, and what they spill in all.
  int num_kernels() const { return num_kernels_; }
  int spills() const { return spills_; }
  // The inputs, for peers.
  const std::vector<OrtTensor>& inputs() const { return inputs_; }

 private:
  OwnCase() = default;
  void FindCounted();

  ImportedModel imported_;
  int threads_ = 1;
  std::unique_ptr<OwnModel> model_;
  std::vector<OrtTensor> inputs_;
  std::vector<bool> counted_;  // by step
  int num_kernels_ = 0;
  int spills_ = 0;
};

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_KERNELS_OWN_CASE_H_
