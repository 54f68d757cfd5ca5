// What the kernels of whole models take on GPUs, by their compilers' word. No
// GPU is needed, but NVRTC or HIPRTC is.
//
//   zoo_report --spec=NAME [--kernels] [--bound] MODEL.onnx...
//
// A row for each model: its kernels and how many of them have one thread a task
// because nothing better compiled; the most registers of a thread, shared bytes
// of a block and spilled bytes that one of them takes; seconds of planning and
// of the compiler. `kernels` lists them one by one, with the registers that
// were planned and the mix of the machine code where the multiply-adds are.
// `bound` says what share of the peak or of the bandwidth they can reach
// (kernel_bound.h), of NVIDIA's GPUs, and how many can reach 85 % of the one or
// 90 % of the other. Exit status 1 if a model does not compile.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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
#include "bench/gpu/kernel_bound.h"
#include "bench/gpu/kernel_facts.h"
#include "bench/gpu/sass.h"
#include "compiler/compile.h"
#include "frontends/onnx/import_model.h"
#include "tilegraph/gpu/gpu_tile_plan.h"
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

// What is printed of each kernel.
struct What {
  bool kernels = false, bound = false;
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
  const GpuTilePlan* plan = TilesOfKernel(model, kernel);
  return plan == nullptr ? 0 : plan->registers_per_thread;
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
      absl::StrJoin(kernel.refused, "; ",
                    [](std::string* text, const absl::Status& why) {
                      absl::StrAppend(text, why.message());
                    })
          .c_str());
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

// Of the hot loop; nothing where the machine code is not there or not known.
std::optional<InstructionMix> HotMixOf(
    const std::map<std::string, std::string_view>& functions,
    const std::string& name, const std::string& target, bool list) {
  const auto code = functions.find(name);
  if (code == functions.end()) return std::nullopt;
  const absl::StatusOr<std::vector<DecodedInstruction>> decoded =
      Decode(code->second, target);
  if (decoded.ok()) return HotMix(*decoded);
  if (list)
    std::printf("         no mix: %s\n", decoded.status().ToString().c_str());
  return std::nullopt;
}

void PrintMix(const InstructionMix& mix) {
  if (mix.fma == 0) return;
  std::printf(
      "         %lld of %lld instructions multiply and add (%.0f %%), %lld "
      "load from shared memory (%lld less than 16 bytes), %lld own memory\n",
      static_cast<long long>(mix.fma), static_cast<long long>(mix.all),
      100 * mix.fma_share(), static_cast<long long>(mix.shared_loads),
      static_cast<long long>(mix.narrow_shared_loads),
      static_cast<long long>(mix.local));
}

void PrintBound(const KernelBound& bound) {
  std::printf("         at most %.0f %% of %s by %s;", 100 * bound.share,
              bound.product ? "the peak" : "its bandwidth",
              std::string(Name(bound.limit)).c_str());
  for (int limit = 0; limit < KernelBound::kLimits; ++limit)
    std::printf(
        " %s %.0f",
        std::string(Name(static_cast<KernelBound::Limit>(limit))).c_str(),
        100 * bound.shares[limit]);
  std::printf("\n");
}

// Bounds of many kernels.
struct BoundSum {
  int kernels = 0, reach = 0;
  double ideal_seconds = 0, bound_seconds = 0;
  std::array<int, KernelBound::kLimits> limited = {};  // of those that do not

  void Add(const KernelBound& bound, double least) {
    ++kernels;
    ideal_seconds += bound.ideal_seconds;
    bound_seconds += bound.ideal_seconds / bound.share;
    if (bound.share >= least) {
      ++reach;
    } else {
      ++limited[bound.limit];
    }
  }
  void Print(const char* what, double least) const {
    if (kernels == 0) return;
    std::printf("  %s: %d of %d can reach %.0f %%, all together %.0f %%;", what,
                reach, kernels, 100 * least,
                100 * ideal_seconds / bound_seconds);
    for (int limit = 0; limit < KernelBound::kLimits; ++limit)
      std::printf(
          " %s %d",
          std::string(Name(static_cast<KernelBound::Limit>(limit))).c_str(),
          limited[limit]);
    std::printf("\n");
  }
};

// What is asked of products, of the peak, and of all others, of the bandwidth.
constexpr double kOfPeak = 0.85, kOfBandwidth = 0.9;

struct BoundSums {
  BoundSum products, others;

  void Add(const KernelBound& bound) {
    bound.product ? products.Add(bound, kOfPeak)
                  : others.Add(bound, kOfBandwidth);
  }
  void Print() const {
    products.Print("products", kOfPeak);
    others.Print("bound by memory", kOfBandwidth);
  }
};

void PrintKernels(const CompiledModel& model, const DeviceSpec& spec,
                  const What& what, BoundSums& all) {
  BoundSums sums;
  const std::map<std::string, std::string_view> functions =
      gpu_text::FunctionCode(model.module);
  for (int k = 0; k < static_cast<int>(model.kernels.size()); ++k) {
    const CompiledKernel& kernel = model.kernels[static_cast<size_t>(k)];
    if (what.kernels) Print(kernel, PlannedRegisters(model, k));
    const std::optional<InstructionMix> hot =
        HotMixOf(functions, kernel.scalar.name, spec.target(), what.kernels);
    if (what.kernels && hot) PrintMix(*hot);
    if (!what.bound || !hot || !kernel.scalar.has_threads() ||
        !kernel.report.registers)
      continue;
    const KernelBound bound = BoundOf(spec, FactsOf(model, k, spec, *hot));
    if (what.kernels) PrintBound(bound);
    sums.Add(bound);
    all.Add(bound);
  }
  if (what.bound) sums.Print();
}

absl::Status Report(const std::string& path, const backends::Codegen& codegen,
                    Clock& clock, const What& what, BoundSums& all) {
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
  if (what.kernels || what.bound)
    PrintKernels(compiled, codegen.spec(), what, all);
  std::fflush(stdout);
  return absl::OkStatus();
}

absl::Status Run(const std::vector<std::string>& paths, const std::string& name,
                 const What& what) {
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, LoadSpec(name));
  if (what.bound && !absl::StartsWith(spec.target(), "cuda:"))
    return absl::InvalidArgumentError(
        "bounds are known of NVIDIA's GPUs (kernel_bound.h)");
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<backends::Codegen> codegen,
                      tools::CodegenFor(spec));
  std::printf(
      "%s (%s)\n\n| model | kernels | of one thread | most registers | most "
      "shared bytes | kernels that spill | most spilled bytes | planning s | "
      "compiler s |\n|---|---|---|---|---|---|---|---|---|\n",
      spec.name().c_str(), spec.target().c_str());
  absl::Status first;
  BoundSums all;
  for (const std::string& path : paths) {
    const absl::Status status = Report(path, *codegen, *RealClock(), what, all);
    if (status.ok()) continue;
    std::fprintf(stderr, "%s: %s\n", path.c_str(), status.ToString().c_str());
    first.Update(status);
  }
  if (what.bound) std::printf("all of them\n");
  all.Print();
  return first;
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  std::string spec = "h100";
  tilewright::What what;
  tilewright::OptionParser parser;
  parser.Text("spec", &spec);
  parser.Flag("kernels", &what.kernels);
  parser.Flag("bound", &what.bound);
  return tilewright::RunOnArguments(
      "zoo_report",
      "zoo_report --spec=NAME [--kernels] [--bound] MODEL.onnx...", parser,
      std::vector<std::string>(argv + 1, argv + argc),
      [&](const std::vector<std::string>& paths) {
        return tilewright::Run(paths, spec, what);
      });
}
