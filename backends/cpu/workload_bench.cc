// One workload in text form (docs/text_form.md) through its default schedule to
// machine code: how fast, how large, how many spills. For people who work on
// rules, lowering or the code generator.
//
//   workload_bench FILE [scalar|source]
//
// prints the figures, beside the register-only peak of the same run, or the
// scalar tier, or the assembly.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "backends/codegen.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/cpu/micro_kernels.h"
#include "backends/device.h"
#include "backends/lowering/lower.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "sketch/default_schedule.h"
#include "sketch/replay.h"
#include "sketch/workload.h"

namespace tilewright::cpu {
namespace {

// A kernel on a device, ready to be launched.
struct Loaded {
  kernel_ir::ScalarKernel kernel;
  backends::KernelReport report;
  std::unique_ptr<backends::DeviceModule> module;
  std::unique_ptr<backends::DeviceKernel> resolved;
  std::vector<std::unique_ptr<backends::DeviceBuffer>> buffers;
  std::vector<void*> args;
  int64_t best_ns = INT64_MAX;
};

absl::StatusOr<Loaded> Load(const backends::Codegen& codegen,
                            backends::Device& device,
                            kernel_ir::ScalarKernel kernel) {
  Loaded loaded;
  TW_ASSIGN_OR_RETURN(const backends::Module module, codegen.Emit({kernel}));
  loaded.report = module.kernels[0];
  TW_ASSIGN_OR_RETURN(loaded.module,
                      device.LoadModule(module.bytes, module.target));
  TW_ASSIGN_OR_RETURN(loaded.resolved,
                      device.GetKernel(*loaded.module, kernel.name));
  for (const kernel_ir::ScalarBuffer& buffer : kernel.buffers) {
    if (buffer.role == kernel_ir::Role::kLocal) continue;
    const int64_t bytes = buffer.elements * SizeBytes(buffer.dtype);
    TW_ASSIGN_OR_RETURN(auto memory, device.Allocate(bytes));
    std::fill_n(static_cast<char*>(memory->address()), bytes, 0x3c);
    loaded.args.push_back(memory->address());
    loaded.buffers.push_back(std::move(memory));
  }
  loaded.kernel = std::move(kernel);
  return loaded;
}

absl::Status Time(backends::Device& device, backends::Stream& stream,
                  Loaded& loaded) {
  TW_ASSIGN_OR_RETURN(const int64_t ns, device.TimeNs(stream, [&] {
    return stream.Launch(*loaded.resolved, loaded.args, loaded.kernel.num_tasks,
                         loaded.kernel.scratch_bytes);
  }));
  loaded.best_ns = std::min(loaded.best_ns, ns);
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

absl::Status Run(const std::string& path, const std::string& what) {
  CpuDeviceOptions options;
  options.num_threads = 1;
  TW_ASSIGN_OR_RETURN(const auto device, CreateCpuDevice(options));
  TW_ASSIGN_OR_RETURN(const auto codegen, CreateCpuCodegen(device->spec()));
  TW_ASSIGN_OR_RETURN(const auto stream, device->CreateStream());

  TW_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, int64_t{1} << 20));
  TW_ASSIGN_OR_RETURN(const sketch::Workload workload,
                      sketch::ParseWorkload(text));
  TW_ASSIGN_OR_RETURN(const sketch::Schedule schedule,
                      sketch::DefaultSchedule(workload, device->spec()));
  TW_ASSIGN_OR_RETURN(const sketch::BlockTree tree,
                      sketch::Replay(workload, schedule));
  TW_ASSIGN_OR_RETURN(const kernel_ir::Kernel tiles,
                      lowering::Lower(tree, "kernel"));
  TW_ASSIGN_OR_RETURN(kernel_ir::ScalarKernel scalar, codegen->Legalize(tiles));
  if (what == "scalar") {
    std::printf("%s\n%s\n%s\n", schedule.ToString().c_str(),
                tiles.ToString().c_str(), scalar.ToString().c_str());
    return absl::OkStatus();
  }
  if (what == "source") {
    TW_ASSIGN_OR_RETURN(const std::string source, codegen->Source(scalar));
    std::printf("%s", source.c_str());
    return absl::OkStatus();
  }
  TW_ASSIGN_OR_RETURN(const int64_t build_ns, device->TimeNs(*stream, [&] {
    return codegen->Emit({scalar}).status();
  }));
  TW_ASSIGN_OR_RETURN(Loaded kernel,
                      Load(*codegen, *device, std::move(scalar)));
  PeakLoop peak_loop;
  peak_loop.lanes = static_cast<int>(device->spec().unit().vector_bytes() / 4);
  peak_loop.accumulators = peak_loop.lanes == 16 ? 24 : 12;
  TW_ASSIGN_OR_RETURN(Loaded peak,
                      Load(*codegen, *device, MakePeakLoop(peak_loop)));
  constexpr int64_t kBudgetNs = 1000000000;
  int64_t spent_ns = 0;
  for (int round = 0; round < 500 && spent_ns < kBudgetNs; ++round) {
    TW_RETURN_IF_ERROR(Time(*device, *stream, peak));
    TW_RETURN_IF_ERROR(Time(*device, *stream, kernel));
    spent_ns += peak.best_ns + kernel.best_ns;
  }
  const double gflops =
      Flops(workload.graph) / static_cast<double>(kernel.best_ns);
  const double peak_gflops = static_cast<double>(peak_loop.flops()) /
                             static_cast<double>(peak.best_ns);
  std::printf(
      "%9.3f ms %7.1f GFLOP/s %5.1f %% of %.1f  spills %d  stack %lld  code "
      "%lld "
      " scratch %lld  tasks %lld  build %.1f ms\n",
      static_cast<double>(kernel.best_ns) * 1e-6, gflops,
      100 * gflops / peak_gflops, peak_gflops, kernel.report.spills,
      static_cast<long long>(kernel.report.stack_bytes),
      static_cast<long long>(kernel.report.code_bytes),
      static_cast<long long>(kernel.kernel.scratch_bytes),
      static_cast<long long>(kernel.kernel.num_tasks),
      static_cast<double>(build_ns) * 1e-6);
  return absl::OkStatus();
}

}  // namespace
}  // namespace tilewright::cpu

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[2] : "";
  if (argc < 2 || (argc > 2 && what != "scalar" && what != "source")) {
    std::fprintf(stderr, "usage: workload_bench FILE [scalar|source]\n");
    return 2;
  }
  const absl::Status status = tilewright::cpu::Run(argv[1], what);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
