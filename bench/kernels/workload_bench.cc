// Workloads in text form (docs/text_form.md) through their default schedules to
// machine code: how fast, how large, how many spills. For people who work on
// rules, lowering or the code generator.
//
//   workload_bench [--seconds=S] [--threads=N] [--cold] [--decisions=FILE]
//                  FILE...
//   workload_bench --show=scalar|source FILE
//
// prints one line of figures per file, beside the register-only peak of one
// core in the same run; or the schedule, tile tier and scalar tier, or the
// assembly. Cold: every run takes other copies of the arguments, 256 MiB of
// them in turn. Decisions: lines "NAME = VALUE" (docs/decisions.md) that
// overrule the default schedule's.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "backends/codegen.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/cpu/micro_kernels.h"
#include "backends/device.h"
#include "backends/lowering/tile/lower.h"
#include "base/file.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/table.h"

namespace tilewright::bench {
namespace {

constexpr int64_t kColdBytes = int64_t{256} << 20;

struct Options {
  std::vector<std::string> files;
  std::string show;
  double seconds = 1;
  int threads = 1;
  bool cold = false;
  Answers answers;
};

// A kernel on a device, ready to be launched on any of its sets of arguments.
struct Loaded {
  kernel_ir::ScalarKernel kernel;
  backends::KernelReport report;
  std::unique_ptr<backends::DeviceModule> module;
  std::unique_ptr<backends::DeviceKernel> resolved;
  std::vector<std::unique_ptr<backends::DeviceBuffer>> buffers;
  std::vector<std::vector<void*>> sets;
  size_t next = 0;
  int64_t argument_bytes = 0;
  int64_t runs = 1;             // in a row, for one sample
  int64_t best_ns = INT64_MAX;  // of one run
};

// The clock of a thread errs by some microseconds: samples are longer.
constexpr int64_t kSampleNs = 500000;

absl::StatusOr<Loaded> Load(const backends::Codegen& codegen,
                            backends::Device& device,
                            kernel_ir::ScalarKernel kernel, bool cold) {
  Loaded loaded;
  TW_ASSIGN_OR_RETURN(const backends::Module module, codegen.Emit({kernel}));
  loaded.report = module.kernels[0];
  TW_ASSIGN_OR_RETURN(loaded.module,
                      device.LoadModule(module.bytes, module.target));
  TW_ASSIGN_OR_RETURN(loaded.resolved,
                      device.GetKernel(*loaded.module, kernel.name));
  int64_t total_bytes = 0;
  do {
    std::vector<void*>& args = loaded.sets.emplace_back();
    loaded.argument_bytes = 0;
    for (const kernel_ir::ScalarBuffer& buffer : kernel.buffers) {
      if (buffer.role == kernel_ir::Role::kLocal) continue;
      const int64_t bytes = buffer.elements * SizeBytes(buffer.dtype);
      TW_ASSIGN_OR_RETURN(auto memory, device.Allocate(bytes));
      std::fill_n(static_cast<char*>(memory->address()), bytes, 0x3c);
      args.push_back(memory->address());
      loaded.buffers.push_back(std::move(memory));
      loaded.argument_bytes += bytes;
    }
    total_bytes += loaded.argument_bytes;
  } while (cold && total_bytes < kColdBytes);
  loaded.kernel = std::move(kernel);
  return loaded;
}

absl::Status Time(backends::Device& device, backends::Stream& stream,
                  Loaded& loaded) {
  TW_ASSIGN_OR_RETURN(const int64_t ns, device.TimeNs(stream, [&] {
    for (int64_t i = 0; i < loaded.runs; ++i) {
      TW_RETURN_IF_ERROR(
          stream.Launch(*loaded.resolved, loaded.sets[loaded.next],
                        loaded.kernel.num_tasks, loaded.kernel.scratch_bytes));
      loaded.next = (loaded.next + 1) % loaded.sets.size();
    }
    return absl::OkStatus();
  }));
  if (loaded.runs == 1 && ns < kSampleNs) {
    loaded.runs = kSampleNs / std::max<int64_t>(ns, 1) + 1;
    return Time(device, stream, loaded);
  }
  loaded.best_ns = std::min(loaded.best_ns, ns / loaded.runs);
  return absl::OkStatus();
}

// Two operations per term of every reduction, one per element of other
// computes.
double Flops(const TensorGraph& graph) {
  double flops = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute) continue;
    double points = tensor.compute.reduce_axes.empty() ? 1 : 2;
    for (const Axis& axis : tensor.compute.axes) {
      points *= static_cast<double>(axis.extent.value());
    }
    for (const Axis& axis : tensor.compute.reduce_axes) {
      points *= static_cast<double>(axis.extent.value());
    }
    flops += points;
  }
  return flops;
}

absl::StatusOr<kernel_ir::ScalarKernel> Compile(
    const backends::Codegen& codegen, const sketch::Workload& workload,
    const Options& options) {
  TW_ASSIGN_OR_RETURN(
      const sketch::Schedule schedule,
      sketch::GenerateWith(sketch::Generators(workload).front(), workload,
                           codegen.spec(), options.answers));
  TW_ASSIGN_OR_RETURN(const sketch::BlockTree tree,
                      sketch::Replay(workload, schedule));
  TW_ASSIGN_OR_RETURN(const kernel_ir::Kernel tiles,
                      lowering::Lower(tree, "kernel"));
  TW_ASSIGN_OR_RETURN(kernel_ir::ScalarKernel scalar, codegen.Legalize(tiles));
  if (options.show == "scalar") {
    std::printf("%s\n%s\n%s\n", schedule.ToString().c_str(),
                tiles.ToString().c_str(), scalar.ToString().c_str());
  }
  if (options.show == "source") {
    TW_ASSIGN_OR_RETURN(const std::string source, codegen.Source(scalar));
    std::printf("%s", source.c_str());
  }
  return scalar;
}

// The best time of one core's loop of multiply-adds in registers, so far.
class Peak {
 public:
  static absl::StatusOr<Peak> Create() {
    Peak peak;
    TW_ASSIGN_OR_RETURN(peak.device_, cpu::CreateCpuDevice({.num_threads = 1}));
    TW_ASSIGN_OR_RETURN(const auto codegen,
                        cpu::CreateCpuCodegen(peak.device_->spec()));
    TW_ASSIGN_OR_RETURN(peak.stream_, peak.device_->CreateStream());
    peak.loop_.lanes =
        static_cast<int>(peak.device_->spec().unit().vector_bytes() / 4);
    peak.loop_.accumulators = peak.loop_.lanes == 16 ? 24 : 12;
    TW_ASSIGN_OR_RETURN(
        peak.loaded_,
        Load(*codegen, *peak.device_, cpu::MakePeakLoop(peak.loop_), false));
    return peak;
  }
  absl::Status Sample() { return Time(*device_, *stream_, loaded_); }
  double gflops() const {
    return static_cast<double>(loop_.flops()) /
           static_cast<double>(loaded_.best_ns);
  }

 private:
  std::unique_ptr<backends::Device> device_;
  std::unique_ptr<backends::Stream> stream_;
  cpu::PeakLoop loop_;
  Loaded loaded_;
};

std::string BaseName(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

absl::Status Measure(const std::string& path, const Options& options,
                     const backends::Codegen& codegen, backends::Device& device,
                     Peak& peak) {
  TW_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, int64_t{1} << 20));
  TW_ASSIGN_OR_RETURN(const sketch::Workload workload,
                      sketch::ParseWorkload(text));
  TW_ASSIGN_OR_RETURN(const auto stream, device.CreateStream());
  TW_ASSIGN_OR_RETURN(kernel_ir::ScalarKernel scalar,
                      Compile(codegen, workload, options));
  if (!options.show.empty()) return absl::OkStatus();
  TW_ASSIGN_OR_RETURN(const int64_t build_ns, device.TimeNs(*stream, [&] {
    return codegen.Emit({scalar}).status();
  }));
  TW_ASSIGN_OR_RETURN(Loaded kernel,
                      Load(codegen, device, std::move(scalar), options.cold));
  int64_t spent_ns = 0;
  for (int round = 0;
       round < 10 || static_cast<double>(spent_ns) < options.seconds * 1e9;
       ++round) {
    if (round < 100) TW_RETURN_IF_ERROR(peak.Sample());
    TW_RETURN_IF_ERROR(Time(device, *stream, kernel));
    spent_ns += kernel.best_ns * kernel.runs;
  }
  const double ns = static_cast<double>(kernel.best_ns);
  const double gflops = Flops(workload.graph) / ns;
  std::printf(
      "%-28s %9.4f ms %7.1f GFLOP/s %5.1f %% of %.1f x %d %6.1f GB/s  spills "
      "%d  "
      "code %lld  scratch %lld  tasks %lld  build %.0f ms\n",
      BaseName(path).c_str(), ns * 1e-6, gflops,
      100 * gflops / (peak.gflops() * options.threads), peak.gflops(),
      options.threads, static_cast<double>(kernel.argument_bytes) / ns,
      kernel.report.spills, static_cast<long long>(kernel.report.code_bytes),
      static_cast<long long>(kernel.kernel.scratch_bytes),
      static_cast<long long>(kernel.kernel.num_tasks),
      static_cast<double>(build_ns) * 1e-6);
  std::fflush(stdout);
  return absl::OkStatus();
}

absl::Status Run(const Options& options) {
  TW_ASSIGN_OR_RETURN(const auto device,
                      cpu::CreateCpuDevice({.num_threads = options.threads}));
  TW_ASSIGN_OR_RETURN(const auto codegen,
                      cpu::CreateCpuCodegen(device->spec()));
  TW_ASSIGN_OR_RETURN(Peak peak, Peak::Create());
  for (const std::string& file : options.files) {
    const absl::Status status = Measure(file, options, *codegen, *device, peak);
    if (!status.ok())
      std::printf("%-28s %s\n", BaseName(file).c_str(),
                  status.ToString().c_str());
  }
  return absl::OkStatus();
}

absl::StatusOr<Answers> ReadAnswers(const std::string& path) {
  TW_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, int64_t{1} << 20));
  return ParseAnswers(text);
}

constexpr char kUsage[] =
    "workload_bench [--seconds=S] [--threads=N] [--cold] [--decisions=FILE] "
    "[--show=scalar|source] FILE...";

int Main(const std::vector<std::string>& arguments) {
  Options options;
  OptionParser parser;
  parser.Flag("cold", &options.cold);
  parser.Value("show", [&](absl::string_view what) {
    options.show = std::string(what);
    return what == "scalar" || what == "source"
               ? absl::OkStatus()
               : absl::InvalidArgumentError("give scalar or source");
  });
  parser.Value("decisions", [&](absl::string_view path) {
    absl::StatusOr<Answers> answers = ReadAnswers(std::string(path));
    if (answers.ok()) options.answers = *std::move(answers);
    return answers.status();
  });
  parser.Number("seconds", &options.seconds, 0.0);
  parser.Number("threads", &options.threads, 1);
  return RunOnArguments("workload_bench", kUsage, parser, arguments,
                        [&](const std::vector<std::string>& files) {
                          options.files = files;
                          return Run(options);
                        });
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) {
  return tilewright::bench::Main({argv + 1, argv + argc});
}
