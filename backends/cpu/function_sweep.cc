#include "backends/cpu/function_sweep.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "backends/codegen.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/lowering/passes/expand_functions.h"
#include "backends/lowering/testing/function_oracle.h"
#include "base/status_macros.h"

namespace tilewright::cpu {
namespace {

using kernel_ir::Reg;

kernel_ir::ScalarKernel MapKernel(Op op, DType dtype, int lanes) {
  kernel_ir::ScalarBuilder b("map");
  const int x = b.AddArgument("x", dtype, kernel_ir::Role::kInput,
                              CompiledFunction::kElements);
  const int y = b.AddArgument("y", dtype, kernel_ir::Role::kInput,
                              CompiledFunction::kElements);
  const int z = b.AddArgument("z", dtype, kernel_ir::Role::kOutput,
                              CompiledFunction::kElements);
  const Reg i = b.BeginFor(0, CompiledFunction::kElements, lanes, 2);
  const Reg v = b.Load(x, i, 0, lanes);
  b.Store(z, i, 0,
          op == Op::kPow ? b.Emit(op, {v, b.Load(y, i, 0, lanes)})
                         : b.Emit(op, {v}));
  b.EndFor();
  return std::move(b).Finish();
}

}  // namespace

absl::StatusOr<std::unique_ptr<CompiledFunction>> CompiledFunction::Compile(
    Op op, DType dtype, const DeviceSpec& spec) {
  auto function = std::make_unique<CompiledFunction>();
  const int lanes =
      static_cast<int>(spec.unit().vector_bytes() / SizeBytes(dtype));
  kernel_ir::ScalarKernel kernel = MapKernel(op, dtype, lanes);
  TW_ASSIGN_OR_RETURN(const lowering::FunctionOptions options,
                      CpuFunctionOptions(spec));
  lowering::ExpandFunctions(kernel, options);
  TW_RETURN_IF_ERROR(kernel_ir::VerifyScalarKernel(kernel));
  TW_ASSIGN_OR_RETURN(const auto codegen, CreateCpuCodegen(spec));
  TW_ASSIGN_OR_RETURN(const backends::Module module, codegen->Emit({kernel}));
  TW_ASSIGN_OR_RETURN(function->device_, CreateCpuDevice({.num_threads = 1}));
  TW_ASSIGN_OR_RETURN(function->module_, function->device_->LoadModule(
                                             module.bytes, module.target));
  TW_ASSIGN_OR_RETURN(function->kernel_, function->device_->GetKernel(
                                             *function->module_, kernel.name));
  TW_ASSIGN_OR_RETURN(function->stream_, function->device_->CreateStream());
  return function;
}

absl::Status CompiledFunction::Run(const void* x, const void* y, void* z) {
  void* const args[] = {const_cast<void*>(x), const_cast<void*>(y), z};
  TW_RETURN_IF_ERROR(stream_->Launch(*kernel_, args, 1, 0));
  return stream_->Synchronize();
}

absl::StatusOr<double> CompiledFunction::ElementsPerSecond(const void* x,
                                                           const void* y,
                                                           void* z) {
  int64_t best = INT64_MAX;
  for (int i = 0; i < 200; ++i) {
    TW_ASSIGN_OR_RETURN(const int64_t ns, device_->TimeNs(*stream_, [&] {
      return Run(x, y, z);
    }));
    best = std::min(best, std::max<int64_t>(ns, 1));
  }
  return 1e9 * kElements / static_cast<double>(best);
}

absl::StatusOr<SweepResult> SweepFloats(CompiledFunction& function, Op op,
                                        uint64_t begin, uint64_t end,
                                        uint64_t step) {
  SweepResult result;
  std::vector<float> x(CompiledFunction::kElements),
      z(CompiledFunction::kElements);
  for (uint64_t next = begin; next < end;) {
    int64_t count = 0;
    for (; count < CompiledFunction::kElements && next < end;
         ++count, next += step) {
      const uint32_t bits = static_cast<uint32_t>(next);
      std::memcpy(&x[count], &bits, sizeof(bits));
    }
    TW_RETURN_IF_ERROR(function.Run(x.data(), x.data(), z.data()));
    for (int64_t i = 0; i < count; ++i) {
      const double error = lowering::UlpError(
          z[i], lowering::FunctionReference(op, static_cast<double>(x[i])));
      if (error > result.max_ulp) {
        result.max_ulp = error;
        result.worst = x[i];
      }
    }
    result.values += count;
  }
  return result;
}

}  // namespace tilewright::cpu
