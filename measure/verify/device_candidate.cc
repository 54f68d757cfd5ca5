#include "measure/verify/device_candidate.h"

#include <utility>
#include <vector>

#include "base/status_macros.h"

namespace tilewright::measure {
namespace {

using backends::Device;
using backends::DeviceBuffer;
using backends::Stream;

// Copies of the arguments on a device with memory of its own.
class Mirror {
 public:
  static absl::StatusOr<Mirror> Create(Device& device, Stream& stream,
                                       const CandidateRun& run) {
    Mirror mirror;
    for (size_t i = 0; i < run.args.size(); ++i) {
      TW_ASSIGN_OR_RETURN(auto buffer, device.Allocate(run.sizes_bytes[i]));
      TW_RETURN_IF_ERROR(
          stream.Copy(buffer->address(), run.args[i], run.sizes_bytes[i]));
      mirror.args_.push_back(buffer->address());
      mirror.buffers_.push_back(std::move(buffer));
    }
    return mirror;
  }
  const std::vector<void*>& args() const { return args_; }
  // Inputs too: that nothing wrote to them is for the verifier to see.
  absl::Status CopyBack(Stream& stream, const CandidateRun& run) const {
    for (size_t i = 0; i < run.args.size(); ++i) {
      TW_RETURN_IF_ERROR(
          stream.Copy(run.args[i], args_[i], run.sizes_bytes[i]));
    }
    return stream.Synchronize();
  }

 private:
  std::vector<std::unique_ptr<DeviceBuffer>> buffers_;
  std::vector<void*> args_;
};

absl::Status RunOnce(Device& device, Stream& stream, const ModuleKernel& kernel,
                     const CandidateRun& run) {
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<backends::DeviceModule> module,
                      device.LoadModule(kernel.module, kernel.target));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<backends::DeviceKernel> resolved,
                      device.GetKernel(*module, kernel.name));
  if (device.unified_memory()) {
    TW_RETURN_IF_ERROR(stream.Launch(*resolved, run.args, kernel.num_tasks,
                                     kernel.scratch_bytes));
    return stream.Synchronize();
  }
  TW_ASSIGN_OR_RETURN(const Mirror mirror, Mirror::Create(device, stream, run));
  TW_RETURN_IF_ERROR(stream.Launch(*resolved, mirror.args(), kernel.num_tasks,
                                   kernel.scratch_bytes));
  TW_RETURN_IF_ERROR(stream.Synchronize());
  return mirror.CopyBack(stream, run);
}

}  // namespace

Candidate DeviceCandidate(DeviceFactory factory, ModuleKernel kernel) {
  return [factory = std::move(factory),
          kernel = std::move(kernel)](const CandidateRun& run) -> absl::Status {
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<Device> device,
                        factory(run.threads, run.scratch_guard));
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<Stream> stream,
                        device->CreateStream());
    return RunOnce(*device, *stream, kernel, run);
  };
}

Candidate CandidateOnDevice(Device* device, Stream* stream,
                            ModuleKernel kernel) {
  return [device, stream, kernel = std::move(kernel)](const CandidateRun& run) {
    return RunOnce(*device, *stream, kernel, run);
  };
}

}  // namespace tilewright::measure
