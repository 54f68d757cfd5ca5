#include "backends/cuda/codegen/cuda_codegen.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "backends/cuda/codegen/launch_bounds.h"
#include "backends/cuda/nvrtc/nvrtc.h"
#include "backends/cuda/nvrtc/ptxas_log.h"
#include "backends/gpu_text/prelude.h"
#include "backends/gpu_text/text.h"
#include "backends/gpu_text/text_codegen.h"
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
  absl::StatusOr<Compiled> Compile(absl::Span<const ScalarKernel> kernels,
                                   const std::string& text) const override {
    TW_ASSIGN_OR_RETURN(Cubin cubin, CompileText(text));
    TW_ASSIGN_OR_RETURN(const BlocksByName blocks, Unspilled(kernels, cubin));
    if (!blocks.empty()) {
      TW_ASSIGN_OR_RETURN(const std::string bounded,
                          gpu_text::ModuleText(kernels, spec(), blocks));
      TW_ASSIGN_OR_RETURN(cubin, CompileText(bounded));
    }
    Compiled compiled;
    compiled.bytes = std::move(cubin.bytes);
    for (const ScalarKernel& kernel : kernels) {
      const auto known = cubin.kernels.find(kernel.name);
      if (known != cubin.kernels.end())
        compiled.reports[kernel.name] = ReportOf(known->second, kernel);
    }
    return compiled;
  }

 private:
  using BlocksByName = std::map<std::string, int64_t>;

  absl::StatusOr<Cubin> CompileText(const std::string& text) const {
    // Line numbers are the text's own.
    return nvrtc_->Compile(
        absl::StrCat(gpu_text::Prelude(gpu_text::Dialect::kCuda),
                     "#line 1 \"kernels\"\n", text),
        "kernels.cu", std::string(absl::StripPrefix(spec().target(), kPrefix)));
  }

  // Of the kernels that spill, the blocks to leave room for with which they
  // spill least, if that is less than without.
  absl::StatusOr<BlocksByName> Unspilled(absl::Span<const ScalarKernel> kernels,
                                         const Cubin& cubin) const {
    BlocksByName blocks;
    for (const ScalarKernel& kernel : kernels) {
      const auto taken = cubin.kernels.find(kernel.name);
      if (taken == cubin.kernels.end()) continue;
      const KernelResources& untold = taken->second;
      int64_t least = SpillBytes(untold);
      if (least == 0) continue;
      for (const int64_t count :
           BlocksToLeaveRoomFor(spec().unit(),
                                {kernel.threads, untold.registers,
                                 untold.shared_bytes + kernel.scratch_bytes},
                                kernel.num_tasks)) {
        TW_ASSIGN_OR_RETURN(const std::string text,
                            gpu_text::KernelText(kernel, count));
        TW_ASSIGN_OR_RETURN(const Cubin told, CompileText(text));
        const auto now = told.kernels.find(kernel.name);
        if (now == told.kernels.end() || SpillBytes(now->second) >= least)
          continue;
        least = SpillBytes(now->second);
        blocks[kernel.name] = count;
        if (least == 0) break;
      }
    }
    return blocks;
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
