#include "measure/verify/interpreted_candidate.h"

#include <cstring>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "backends/kernel_ir/interpreter.h"
#include "base/status_macros.h"

namespace tilewright::measure {
namespace {

std::vector<std::string> CopyIn(const CandidateRun& run) {
  std::vector<std::string> bytes;
  for (size_t i = 0; i < run.args.size(); ++i)
    bytes.emplace_back(static_cast<const char*>(run.args[i]),
                       run.sizes_bytes[i]);
  return bytes;
}

void CopyOut(const std::vector<std::string>& bytes, const CandidateRun& run) {
  for (size_t i = 0; i < bytes.size(); ++i)
    std::memcpy(run.args[i], bytes[i].data(), bytes[i].size());
}

}  // namespace

Candidate InterpretedCandidate(const kernel_ir::ScalarKernel& kernel) {
  return [&kernel](const CandidateRun& run) -> absl::Status {
    std::vector<std::string> bytes = CopyIn(run);
    if (run.threads == 1) {
      TW_RETURN_IF_ERROR(kernel_ir::InterpretScalarKernel(
          kernel, absl::MakeSpan(bytes), 0, kernel.num_tasks));
    } else {
      // Undefined integers lie above all others in one run, below in the other.
      for (int64_t task = kernel.num_tasks - 1; task >= 0; --task) {
        TW_RETURN_IF_ERROR(kernel_ir::InterpretScalarKernel(
            kernel, absl::MakeSpan(bytes), task, task + 1, nullptr,
            -kernel_ir::kWildInteger));
      }
    }
    CopyOut(bytes, run);
    return absl::OkStatus();
  };
}

Candidate InterpretedCandidate(const kernel_ir::Kernel& kernel) {
  return [&kernel](const CandidateRun& run) -> absl::Status {
    std::vector<std::string> bytes = CopyIn(run);
    TW_RETURN_IF_ERROR(
        kernel_ir::InterpretTileKernel(kernel, absl::MakeSpan(bytes)));
    CopyOut(bytes, run);
    return absl::OkStatus();
  };
}

}  // namespace tilewright::measure
