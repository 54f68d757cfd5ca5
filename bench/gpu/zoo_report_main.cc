// What the kernels of whole models take on GPUs, by their compilers' word. No
// GPU is needed, but NVRTC or HIPRTC is.
//
//   zoo_report --spec=NAME [--kernels] MODEL.onnx...
//
// A row for each model: its kernels and how many of them have one thread a task
// because nothing better compiled; the most registers of a thread, shared bytes
// of a block and spilled bytes that one of them takes; seconds of planning and
// of the compiler. `kernels` lists them one by one, with the registers that
// were planned and the mix of the machine code where the multiply-adds are.
// Exit status 1 if a model does not compile.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "backends/codegen.h"
#include "backends/gpu_text/function_code.h"
#include "backends/spec/device_spec.pb.h"
#include "backends/spec/load_spec.h"
#include "base/clock.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "bench/gpu/gcn.h"
#include "bench/gpu/instruction_mix.h"
#include "bench/gpu/sass.h"
#include "compiler/compile.h"
#include "compiler/connect_gpu.h"
#include "frontends/onnx/import_model.h"
#include "tools/backends.h"

namespace tilewright {
namespace {

// Passes everything on, and knows how long the machine code took.
class TimedCodegen : public backends::Codegen {
 public:
  TimedCodegen(const backends::Codegen& codegen, Clock& clock)
      : codegen_(codegen), clock_(clock) {}
  const DeviceSpec& spec() const override { return codegen_.spec(); }
  absl::StatusOr<kernel_ir::ScalarKernel> Legalize(
      const kernel_ir::Kernel& kernel) const override {
    return codegen_.Legalize(kernel);
  }
  absl::StatusOr<backends::Module> Emit(
      absl::Span<const kernel_ir::ScalarKernel> kernels) const override {
    const int64_t start_ns = clock_.WallNs();
    absl::StatusOr<backends::Module> module = codegen_.Emit(kernels);
    emit_ns_ += clock_.WallNs() - start_ns;
    return module;
  }
  absl::StatusOr<std::string> Source(
      const kernel_ir::ScalarKernel& kernel) const override {
    return codegen_.Source(kernel);
  }
  int64_t emit_ns() const { return emit_ns_; }

 private:
  const backends::Codegen& codegen_;
  Clock& clock_;
  mutable int64_t emit_ns_ = 0;
};

struct Row {
  int kernels = 0, single = 0, spilling = 0, most_registers = 0;
  int64_t most_shared_bytes = 0, most_spill_bytes = 0;
};

void Count(const CompiledKernel& kernel, Row& row) {
  const backends::KernelReport& report = kernel.report;
  ++row.kernels;
  row.single += kernel.scalar.has_threads() ? 0 : 1;
  row.spilling += report.spill_bytes.value_or(0) > 0 ? 1 : 0;
  row.most_registers =
      std::max(row.most_registers, report.registers.value_or(0));
  row.most_shared_bytes =
      std::max(row.most_shared_bytes, kernel.scalar.scratch_bytes);
  row.most_spill_bytes =
      std::max(row.most_spill_bytes, report.spill_bytes.value_or(0));
}

// Of the kernel's plan; 0 if it was planned without one.
int64_t PlannedRegisters(const CompiledModel& model, int kernel) {
  for (size_t g = 0; model.gpu && g < model.kernel_of_group.size(); ++g) {
    if (model.kernel_of_group[g] != kernel) continue;
    const GpuTilePlan* plan = TilesOf(*model.gpu, model.plan.groups[g]);
    if (plan) return plan->registers_per_thread;
  }
  return 0;
}

void Print(const CompiledKernel& kernel, int64_t planned) {
  const backends::KernelReport& report = kernel.report;
  std::printf(
      "    %-4s %-12s %6lld blocks of %4lld, %3d registers (%3lld planned), "
      "%6lld shared, %5lld spilled, %6lld code%s%s\n",
      kernel.scalar.name.c_str(), kernel.generator.c_str(),
      static_cast<long long>(kernel.scalar.num_tasks),
      static_cast<long long>(kernel.scalar.has_threads() ? kernel.scalar.threads
                                                         : 1),
      report.registers.value_or(0), static_cast<long long>(planned),
      static_cast<long long>(kernel.scalar.scratch_bytes),
      static_cast<long long>(report.spill_bytes.value_or(0)),
      static_cast<long long>(report.code_bytes),
      kernel.refused.empty() ? "" : "  not ",
      absl::StrJoin(kernel.refused, "; ").c_str());
}

// Of one function, for "cuda:sm_90a" or "hip:gfx90a".
absl::StatusOr<std::vector<DecodedInstruction>> Decode(
    std::string_view code, const std::string& target) {
  constexpr char kCuda[] = "cuda:sm_", kHip[] = "hip:";
  if (absl::StartsWith(target, kCuda))
    return cuda::DecodeSass(
        code, static_cast<int>(std::strtol(target.c_str() + std::strlen(kCuda),
                                           nullptr, 10)));
  return hip::DecodeGcn(code, std::string(absl::StripPrefix(target, kHip)));
}

void PrintMix(std::string_view code, const std::string& target) {
  const absl::StatusOr<std::vector<DecodedInstruction>> decoded =
      Decode(code, target);
  if (!decoded.ok()) {
    std::printf("         no mix: %s\n", decoded.status().ToString().c_str());
    return;
  }
  const InstructionMix mix = HotMix(*decoded);
  if (mix.fma == 0) return;
  std::printf(
      "         %lld of %lld instructions multiply and add (%.0f %%), %lld "
      "load from shared memory (%lld less than 16 bytes), %lld own memory\n",
      static_cast<long long>(mix.fma), static_cast<long long>(mix.all),
      100 * mix.fma_share(), static_cast<long long>(mix.shared_loads),
      static_cast<long long>(mix.narrow_shared_loads),
      static_cast<long long>(mix.local));
}

void PrintKernels(const CompiledModel& model, const DeviceSpec& spec) {
  const std::map<std::string, std::string_view> functions =
      gpu_text::FunctionCode(model.module);
  for (size_t k = 0; k < model.kernels.size(); ++k) {
    const CompiledKernel& kernel = model.kernels[k];
    Print(kernel, PlannedRegisters(model, static_cast<int>(k)));
    const auto code = functions.find(kernel.scalar.name);
    if (code != functions.end()) PrintMix(code->second, spec.target());
  }
}

absl::Status Report(const std::string& path, const backends::Codegen& codegen,
                    Clock& clock, bool list) {
  TW_ASSIGN_OR_RETURN(const ImportedModel model, ImportModel(path));
  const TimedCodegen timed(codegen, clock);
  const int64_t start_ns = clock.WallNs();
  TW_ASSIGN_OR_RETURN(const CompiledModel compiled,
                      Compile(model, timed, CompileOptions{}));
  const int64_t all_ns = clock.WallNs() - start_ns;
  Row row;
  for (const CompiledKernel& kernel : compiled.kernels) Count(kernel, row);
  std::printf("| %s | %d | %d | %d | %lld | %d | %lld | %.1f | %.1f |\n",
              path.c_str(), row.kernels, row.single, row.most_registers,
              static_cast<long long>(row.most_shared_bytes), row.spilling,
              static_cast<long long>(row.most_spill_bytes),
              static_cast<double>(all_ns - timed.emit_ns()) * 1e-9,
              static_cast<double>(timed.emit_ns()) * 1e-9);
  if (list) PrintKernels(compiled, codegen.spec());
  std::fflush(stdout);
  return absl::OkStatus();
}

absl::Status Run(const std::vector<std::string>& paths, const std::string& name,
                 bool list) {
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, LoadSpec(name));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<backends::Codegen> codegen,
                      tools::CodegenFor(spec));
  std::printf(
      "%s (%s)\n\n| model | kernels | of one thread | most registers | most "
      "shared bytes | kernels that spill | most spilled bytes | planning s | "
      "compiler s |\n|---|---|---|---|---|---|---|---|---|\n",
      spec.name().c_str(), spec.target().c_str());
  absl::Status first;
  for (const std::string& path : paths) {
    const absl::Status status = Report(path, *codegen, *RealClock(), list);
    if (status.ok()) continue;
    std::fprintf(stderr, "%s: %s\n", path.c_str(), status.ToString().c_str());
    first.Update(status);
  }
  return first;
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  std::string spec = "h100";
  bool list = false;
  tilewright::OptionParser parser;
  parser.Text("spec", &spec);
  parser.Flag("kernels", &list);
  return tilewright::RunOnArguments(
      "zoo_report", "zoo_report --spec=NAME [--kernels] MODEL.onnx...", parser,
      std::vector<std::string>(argv + 1, argv + argc),
      [&](const std::vector<std::string>& paths) {
        return tilewright::Run(paths, spec, list);
      });
}
