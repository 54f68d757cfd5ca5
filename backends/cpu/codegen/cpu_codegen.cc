#include "backends/cpu/codegen/cpu_codegen.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/codegen/llvm/cpu_target.h"
#include "backends/cpu/codegen/llvm/fatal_errors.h"
#include "backends/cpu/codegen/llvm/kernel_emitter.h"
#include "backends/cpu/codegen/llvm/link.h"
#include "backends/cpu/codegen/llvm/llvm_status.h"
#include "backends/cpu/codegen/llvm/machine_code.h"
#include "backends/cpu/codegen/x86/x86_target.h"
#include "backends/cpu/kernel_abi.h"
#include "backends/lowering/passes/expand_functions.h"
#include "backends/lowering/passes/stream_stores.h"
#include "backends/lowering/vectorize/legalize.h"
#include "backends/lowering/vectorize/vector_target.h"
#include "backends/spec/caches.h"
#include "base/status_macros.h"
#include "llvm/IR/LLVMContext.h"

namespace tilewright::cpu {
namespace {

using ::tilewright::backends::Codegen;
using ::tilewright::backends::KernelReport;
using ::tilewright::backends::Module;
using ::tilewright::kernel_ir::ScalarKernel;

// A gathered vector is assembled from up to 16 scalars, each of which may wait
// in 16 bytes of the frame: so many vectors at once take half of what a frame
// may have. A tile of registers has that many, so that its sums stay there
// while what is added to them is gathered.
constexpr int kMaxGathers = 32;

lowering::FunctionOptions FunctionOptionsOf(const DeviceSpec& spec,
                                            const CpuTarget& target) {
  lowering::FunctionOptions options;
  options.fma = spec.unit().fma();
  options.scale = target.scale;
  options.lookup = target.lookup;
  return options;
}

// Unrolls operations less where one gathers a lot: first those between buffers
// in memory, then, if that does not help, what keeps its results in registers.
absl::StatusOr<ScalarKernel> LegalizeWithin(const kernel_ir::Kernel& kernel,
                                            lowering::VectorTarget vectors) {
  struct Unrolled {
    int vectors, memory_vectors;
  };
  const int most = vectors.max_unrolled_vectors;
  lowering::LegalizeReport report;
  TW_ASSIGN_OR_RETURN(ScalarKernel scalar,
                      lowering::Legalize(kernel, vectors, &report));
  for (const Unrolled less : {Unrolled{most, 4}, {most, 1}, {4, 4}, {1, 1}}) {
    if (report.gathers_at_once <= kMaxGathers) break;
    vectors.max_unrolled_vectors = less.vectors;
    vectors.max_unrolled_memory_vectors = less.memory_vectors;
    report = {};
    TW_ASSIGN_OR_RETURN(scalar, lowering::Legalize(kernel, vectors, &report));
  }
  return scalar;
}

class CpuCodegen : public Codegen {
 public:
  CpuCodegen(DeviceSpec spec, CpuTarget target)
      : spec_(std::move(spec)), target_(std::move(target)) {}

  const DeviceSpec& spec() const override { return spec_; }

  absl::StatusOr<ScalarKernel> Legalize(
      const kernel_ir::Kernel& kernel) const override {
    lowering::VectorTarget vectors;
    vectors.vector_bytes = static_cast<int>(spec_.unit().vector_bytes());
    vectors.registers = static_cast<int>(spec_.unit().vector_registers());
    vectors.fma = spec_.unit().fma();
    vectors.permutes_bytes = target_.permute;
    for (const MatrixUnit& unit : spec_.unit().matrix_units())
      vectors.intrinsics.push_back(unit.name());
    lowering::StreamOptions stream;
    stream.vector_bytes = vectors.vector_bytes;
    // Weights come from beyond a core's own caches once a run, however few they
    // are, unless all of a model's stay there. Data gain by the same bound: with
    // that of the private cache for them alone models were slower.
    vectors.prefetch_above_bytes = FirstCacheBytes(spec_, /*otherwise=*/0);
    stream.cache_bytes = SharedCacheBytes(spec_);
    TW_ASSIGN_OR_RETURN(ScalarKernel scalar, LegalizeWithin(kernel, vectors));
    lowering::StreamStores(scalar, stream);
    lowering::ExpandFunctions(scalar, FunctionOptionsOf(spec_, target_));
    return scalar;
  }

  absl::StatusOr<Module> Emit(
      absl::Span<const ScalarKernel> kernels) const override {
    MachineCode code;
    TW_RETURN_IF_ERROR(WithLlvm(kernels, [&](llvm::Module& llvm_module) {
      TW_ASSIGN_OR_RETURN(code, CompileToObject(target_, llvm_module));
      return absl::OkStatus();
    }));
    TW_ASSIGN_OR_RETURN(const auto code_bytes, CodeBytes(code.object));
    Module module;
    module.target = spec_.target();
    for (const ScalarKernel& kernel : kernels) {
      KernelReport report;
      report.name = kernel.name;
      report.code_bytes = code_bytes.at(kernel.name);
      const FrameUse& frame = code.frames.at(kernel.name);
      report.stack_bytes = frame.stack_bytes;
      report.spills = frame.spills;
      if (report.stack_bytes > kMaxKernelStackBytes) {
        return absl::InternalError(
            absl::StrCat("kernel ", kernel.name, " needs ", report.stack_bytes,
                         " bytes of stack, more than ", kMaxKernelStackBytes,
                         ": too many values live at once"));
      }
      module.kernels.push_back(std::move(report));
    }
    TW_ASSIGN_OR_RETURN(module.bytes, LinkSharedObject(code.object));
    return module;
  }

  absl::StatusOr<std::string> Source(
      const ScalarKernel& kernel) const override {
    std::string source;
    TW_RETURN_IF_ERROR(WithLlvm({kernel}, [&](llvm::Module& llvm_module) {
      TW_ASSIGN_OR_RETURN(source, CompileToAssembly(target_, llvm_module));
      return absl::OkStatus();
    }));
    return source;
  }

 private:
  // Emits the kernels and runs `work` on them. What LLVM had in hand when it
  // gave up stays with the thread that is lost.
  absl::Status WithLlvm(
      absl::Span<const ScalarKernel> kernels,
      const std::function<absl::Status(llvm::Module&)>& work) const {
    struct InHand {
      llvm::LLVMContext context;
      std::unique_ptr<llvm::Module> module;
    };
    auto in_hand = std::make_unique<InHand>();
    absl::Status status;
    const bool finished = RunToFatalError(
        [&]() -> absl::Status {
          TW_ASSIGN_OR_RETURN(in_hand->module,
                              EmitLlvm(kernels, in_hand->context));
          return work(*in_hand->module);
        },
        status);
    if (!finished) (void)in_hand.release();
    return status;
  }

  absl::StatusOr<std::unique_ptr<llvm::Module>> EmitLlvm(
      absl::Span<const ScalarKernel> kernels,
      llvm::LLVMContext& context) const {
    auto module = std::make_unique<llvm::Module>("kernels", context);
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<llvm::TargetMachine> machine,
                        CreateTargetMachine(target_));
    module->setTargetTriple(machine->getTargetTriple().str());
    module->setDataLayout(machine->createDataLayout());
    module->setPICLevel(llvm::PICLevel::BigPIC);
    for (const ScalarKernel& kernel : kernels) {
      if (kernel.name.empty() ||
          module->getNamedValue(kernel.name) != nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat("kernel name '", kernel.name,
                         "' is empty or used twice in a module"));
      }
      TW_RETURN_IF_ERROR(EmitKernel(kernel, target_, *module));
    }
    TW_RETURN_IF_ERROR(VerifyLlvmModule(*module));
    return module;
  }

  const DeviceSpec spec_;
  const CpuTarget target_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Codegen>> CreateCpuCodegen(
    const DeviceSpec& spec) {
  TW_ASSIGN_OR_RETURN(CpuTarget target, X86TargetOf(spec));
  return std::make_unique<CpuCodegen>(spec, std::move(target));
}

absl::StatusOr<lowering::FunctionOptions> CpuFunctionOptions(
    const DeviceSpec& spec) {
  TW_ASSIGN_OR_RETURN(const CpuTarget target, X86TargetOf(spec));
  return FunctionOptionsOf(spec, target);
}

}  // namespace tilewright::cpu
