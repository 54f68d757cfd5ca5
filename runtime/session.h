// Runs a loaded model. A session owns the arena and a stream, and on a device
// with memory of its own copies of inputs and outputs; it is used by one thread
// at a time. Sessions over one model run concurrently and share its
// constants and the device's threads.
#ifndef TILEWRIGHT_RUNTIME_SESSION_H_
#define TILEWRIGHT_RUNTIME_SESSION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/model.h"

namespace tilewright {

class Session {
 public:
  // ResourceExhausted if there is no memory for the arena.
  static absl::StatusOr<std::unique_ptr<Session>> Create(
      std::shared_ptr<const Model> model);

  // One pointer per input and output of the program, in its order, each to a
  // dense row-major tensor of the program's type and shape, aligned to its
  // element. Inputs are not written; outputs must not overlap anything. Bits do
  // not depend on the number of threads.
  absl::Status Run(absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs);

  // Run, calling `on_step` after each step with its index (for profiles).
  // Slower: every step is waited for.
  absl::Status RunSteps(absl::Span<const void* const> inputs,
                        absl::Span<void* const> outputs,
                        const std::function<void(int step)>& on_step);

  // RunSteps by the device's own clock: `on_step` is told what each step took
  // there (Device::TimeNs), without the launch being waited for.
  absl::Status TimeSteps(
      absl::Span<const void* const> inputs, absl::Span<void* const> outputs,
      const std::function<void(int step, int64_t ns)>& on_step);
  // What all steps of a run take on the device: of Run all but the copies of
  // inputs and outputs to a device with memory of its own and back.
  absl::StatusOr<int64_t> TimeRun(absl::Span<const void* const> inputs,
                                  absl::Span<void* const> outputs);

  // The bytes that the runs so far have moved between the host's memory (inputs
  // and outputs too) and the arena.
  int64_t moved_bytes() const { return moved_bytes_; }

  const Model& model() const { return *model_; }
  int64_t arena_bytes() const { return model_->program().arena_bytes(); }
  // Where a step of the program reads or writes, on the device; boundary
  // tensors only within RunSteps. For tools that look at what lies between
  // steps.
  char* Address(const Place& place) const {
    return bases_[place.buffer()] + place.offset_bytes();
  }
  // Copies what lies there to the host.
  absl::Status Read(const Place& place, int64_t size_bytes, void* to);

 private:
  // An argument that lies in a buffer of the caller: set at every run.
  struct BoundaryArg {
    int step;
    int position;  // in its arguments
    int buffer;
    int64_t offset_bytes;
  };
  Session() = default;
  // Has kernels read and write these, where they can be reached from.
  void Bind(absl::Span<const void* const> inputs,
            absl::Span<void* const> outputs);
  // Buffers for inputs and outputs on a device with memory of its own.
  absl::Status Mirror();
  // Around the steps of a run.
  absl::Status Begin(absl::Span<const void* const> inputs,
                     absl::Span<void* const> outputs);
  absl::Status End(absl::Span<void* const> outputs);
  absl::Status RunCopy(const Copy& copy);
  // Steps [i, i + count): one, or launches that run together.
  absl::Status RunTogether(int i, int count);
  absl::Status RunAllSteps();
  // All steps, at once where they are captured.
  absl::Status RunOrReplay();
  // Has the device repeat all steps at once from now on, if it can: on one with
  // memory of its own their addresses stay.
  void Capture();

  std::shared_ptr<const Model> model_;
  std::unique_ptr<backends::DeviceBuffer> arena_;
  std::unique_ptr<backends::HostBuffer> host_;
  std::unique_ptr<backends::Stream> stream_;
  std::vector<std::unique_ptr<backends::DeviceBuffer>> inputs_, outputs_;
  std::vector<char*> bases_;           // by buffer
  std::vector<int> boundary_buffers_;  // inputs and outputs
  std::vector<BoundaryArg> boundary_args_;
  std::vector<std::vector<void*>> args_;          // of launches, by step
  std::vector<backends::KernelLaunch> launches_;  // by step, likewise
  int64_t moved_bytes_ = 0;
  std::vector<int> together_;  // numbers of steps that run together, in order
  std::unique_ptr<backends::CapturedWork> captured_;  // all steps, or null
  int64_t captured_bytes_ = 0;  // that it moves between host and arena
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_SESSION_H_
