// A built candidate on a device, with arguments, ready to be executed.
#ifndef TILEWRIGHT_MEASURE_WORKER_LOADED_CANDIDATE_H_
#define TILEWRIGHT_MEASURE_WORKER_LOADED_CANDIDATE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/device.h"
#include "measure/verify/candidate.h"
#include "measure/verify/device_candidate.h"
#include "measure/verify/hidden_bytes.h"
#include "measure/verify/packed_tensors.h"
#include "measure/worker/protocol.pb.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::measure {

class LoadedCandidate {
 public:
  // Errors are the device's, or InvalidArgument if `built` does not fit the
  // graph. `device` and `stream` must outlive it.
  static absl::StatusOr<std::unique_ptr<LoadedCandidate>> Load(
      backends::Device* device, backends::Stream* stream,
      const TensorGraph& graph, BuiltCandidate built);

  // The size of all arguments, laid one after the other: the constants alone,
  // and everything with so many copies of them.
  int64_t constant_bytes() const { return constant_bytes_; }
  int64_t argument_bytes(int constant_copies) const {
    return other_bytes_ + constant_copies * constant_bytes_;
  }
  // Where arguments lie from now on, at least argument_bytes(constant_copies),
  // which outlives it: placeholders and constants get their values, outputs
  // nothing. `packed` is of these inputs alone.
  absl::Status Place(void* memory, int constant_copies,
                     const TensorGraph& graph, const HiddenInputs& inputs,
                     PackedTensors& packed);

  // With the next copy of the constants. REQUIRES: placed, and nothing else
  // since.
  absl::Status Launch() {
    next_copy_ = (next_copy_ + 1) % args_.size();
    return stream_->Launch(*kernel_, args_[next_copy_], built_.num_tasks(),
                           built_.scratch_bytes());
  }

  const Arguments& arguments() const { return arguments_; }
  ModuleKernel module_kernel() const;

 private:
  LoadedCandidate(backends::Stream* stream, BuiltCandidate built)
      : stream_(stream), built_(std::move(built)) {}

  backends::Stream* stream_;
  BuiltCandidate built_;
  Arguments arguments_;
  // Of each argument, among the constants or among the others.
  std::vector<int64_t> offsets_;
  int64_t constant_bytes_ = 0, other_bytes_ = 0;
  std::vector<std::vector<void*>> args_;  // by copy of the constants
  size_t next_copy_ = 0;
  std::unique_ptr<backends::DeviceModule> module_;
  std::unique_ptr<backends::DeviceKernel> kernel_;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_WORKER_LOADED_CANDIDATE_H_
