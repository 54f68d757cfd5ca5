#include "measure/device_candidate.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tilewright::measure {

Candidate DeviceCandidate(DeviceFactory factory, ModuleKernel kernel) {
  return [factory = std::move(factory),
          kernel = std::move(kernel)](const CandidateRun& run) -> absl::Status {
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<backends::Device> device,
                        factory(run.threads, run.scratch_guard));
    if (!device->unified_memory()) {
      return absl::UnimplementedError(absl::StrCat(
          "device ", std::string(device->name()),
          " has memory of its own; candidates cannot be judged on it yet"));
    }
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<backends::DeviceModule> module,
                        device->LoadModule(kernel.module, kernel.target));
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<backends::DeviceKernel> resolved,
                        device->GetKernel(*module, kernel.name));
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<backends::Stream> stream,
                        device->CreateStream());
    TW_RETURN_IF_ERROR(stream->Launch(*resolved, run.args, kernel.num_tasks,
                                      kernel.scratch_bytes));
    return stream->Synchronize();
  };
}

}  // namespace tilewright::measure
