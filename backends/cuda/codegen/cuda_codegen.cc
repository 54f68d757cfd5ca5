#include "backends/cuda/codegen/cuda_codegen.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "backends/cuda/codegen/launch_bounds.h"
#include "backends/cuda/nvrtc/nvrtc.h"
#include "backends/cuda/nvrtc/ptxas_log.h"
#include "backends/gpu_text/prelude.h"
#include "backends/gpu_text/text.h"
#include "backends/gpu_text/text_codegen.h"
#include "base/ar_archive.h"
#include "base/parallel_for.h"
#include "base/status_macros.h"

namespace tilewright::cuda {
namespace {

using ::tilewright::backends::KernelReport;
using ::tilewright::kernel_ir::ScalarKernel;

constexpr char kPrefix[] = "cuda:";
constexpr int64_t kRegisterBytes = 4;

int64_t SpillBytes(const KernelResources& resources) {
  return resources.spill_store_bytes + resources.spill_load_bytes;
}

KernelReport ReportOf(const KernelResources& resources,
                      const ScalarKernel& kernel) {
  KernelReport report;
  report.stack_bytes = resources.stack_bytes;
  report.registers = resources.registers;
  // The text declares none: a launch asks for the kernel's scratch.
  report.shared_bytes = resources.shared_bytes + kernel.scratch_bytes;
  report.spill_bytes = SpillBytes(resources);
  report.spills = static_cast<int>(*report.spill_bytes / kRegisterBytes);
  return report;
}

class CudaCodegen : public gpu_text::TextCodegen {
 public:
  CudaCodegen(DeviceSpec spec, std::unique_ptr<Nvrtc> nvrtc)
      : TextCodegen(std::move(spec)), nvrtc_(std::move(nvrtc)) {}

 protected:
  // Each kernel alone: as many at the same time as there are cores, and what
  // spills is compiled again alone.
  absl::StatusOr<Compiled> Compile(
      absl::Span<const ScalarKernel> kernels,
      const std::vector<std::string>& texts) const override {
    std::vector<absl::StatusOr<Cubin>> cubins(kernels.size(),
                                              absl::UnknownError("not yet"));
    ParallelFor(static_cast<int64_t>(kernels.size()), UsableCpus(),
                [&](int64_t number) {
                  const auto i = static_cast<size_t>(number);
                  cubins[i] = CompileKernel(kernels[i], texts[i]);
                });
    Compiled compiled;
    std::vector<ArMember> members;
    for (size_t i = 0; i < kernels.size(); ++i) {
      TW_ASSIGN_OR_RETURN(Cubin cubin, std::move(cubins[i]));
      const std::string& name = kernels[i].name;
      const auto known = cubin.kernels.find(name);
      if (known != cubin.kernels.end())
        compiled.reports[name] = ReportOf(known->second, kernels[i]);
      members.push_back({name, std::move(cubin.bytes)});
    }
    compiled.bytes = WriteArArchive(members);
    return compiled;
  }

 private:
  absl::StatusOr<Cubin> CompileKernel(const ScalarKernel& kernel,
                                      const std::string& text) const {
    TW_ASSIGN_OR_RETURN(Cubin cubin, CompileText(kernel.name, text));
    TW_RETURN_IF_ERROR(SpillLess(kernel, cubin));
    return cubin;
  }

  absl::StatusOr<Cubin> CompileText(const std::string& name,
                                    const std::string& text) const {
    // Line numbers are the text's own.
    return nvrtc_->Compile(
        absl::StrCat(gpu_text::Prelude(gpu_text::Dialect::kCuda), "#line 1 \"",
                     name, "\"\n", text),
        absl::StrCat(name, ".cu"),
        std::string(absl::StripPrefix(spec().target(), kPrefix)));
  }

  // Of a kernel that spills, the cubin that leaves room for so many blocks that
  // it spills least, if that is less.
  absl::Status SpillLess(const ScalarKernel& kernel, Cubin& cubin) const {
    const auto taken = cubin.kernels.find(kernel.name);
    if (taken == cubin.kernels.end()) return absl::OkStatus();
    const KernelResources untold = taken->second;
    int64_t least = SpillBytes(untold);
    if (least == 0) return absl::OkStatus();
    for (const int64_t count :
         BlocksToLeaveRoomFor(spec().unit(),
                              {kernel.threads, untold.registers,
                               untold.shared_bytes + kernel.scratch_bytes},
                              kernel.num_tasks)) {
      TW_ASSIGN_OR_RETURN(const std::string text,
                          gpu_text::KernelText(kernel, count));
      TW_ASSIGN_OR_RETURN(Cubin told, CompileText(kernel.name, text));
      const auto now = told.kernels.find(kernel.name);
      if (now == told.kernels.end() || SpillBytes(now->second) >= least)
        continue;
      least = SpillBytes(now->second);
      cubin = std::move(told);
      if (least == 0) break;
    }
    return absl::OkStatus();
  }

  const std::unique_ptr<Nvrtc> nvrtc_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<backends::Codegen>> CreateCudaCodegen(
    const DeviceSpec& spec, const std::string& nvrtc_library) {
  if (spec.target().rfind(kPrefix, 0) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        spec.name(), " is for ", spec.target(), ", not for an NVIDIA GPU"));
  }
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Nvrtc> nvrtc, Nvrtc::Open(nvrtc_library));
  return std::make_unique<CudaCodegen>(spec, std::move(nvrtc));
}

}  // namespace tilewright::cuda
