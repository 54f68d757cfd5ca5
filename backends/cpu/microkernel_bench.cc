// Measures the share of the peak that register-tiled GEMM micro-kernels of the
// scalar tier reach. Everything lies in the first-level cache. The peak is a
// loop of multiply-adds in registers made by the same code generator; it runs
// interleaved with the kernels, and the best of all rounds counts, in CPU time
// of the one thread.
//
//   microkernel_bench [ROUNDS]
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "backends/codegen.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/cpu/micro_kernels.h"
#include "backends/device.h"
#include "base/status_macros.h"

namespace tilewright::cpu {
namespace {

struct Candidate {
  std::string name;
  kernel_ir::ScalarKernel kernel;
  int64_t flops = 0;
  int repeats = 1;
  // Filled in by the run.
  backends::KernelReport report;
  double build_ms = 0;
  std::unique_ptr<backends::DeviceModule> module;
  std::unique_ptr<backends::DeviceKernel> resolved;
  std::vector<std::unique_ptr<backends::DeviceBuffer>> buffers;
  std::vector<void*> args;
  double best_gflops = 0;
};

int64_t ThreadNs() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return int64_t{1000000000} * t.tv_sec + t.tv_nsec;
}

absl::Status Build(const backends::Codegen& codegen, backends::Device& device,
                   Candidate& candidate) {
  const int64_t start = ThreadNs();
  TW_ASSIGN_OR_RETURN(const backends::Module module,
                      codegen.Emit({candidate.kernel}));
  candidate.build_ms = static_cast<double>(ThreadNs() - start) * 1e-6;
  candidate.report = module.kernels[0];
  TW_ASSIGN_OR_RETURN(candidate.module,
                      device.LoadModule(module.bytes, module.target));
  TW_ASSIGN_OR_RETURN(
      candidate.resolved,
      device.GetKernel(*candidate.module, candidate.report.name));
  for (const kernel_ir::ScalarBuffer& buffer : candidate.kernel.buffers) {
    TW_ASSIGN_OR_RETURN(auto memory, device.Allocate(buffer.elements * 4));
    std::fill_n(static_cast<float*>(memory->address()), buffer.elements, 1e-3f);
    candidate.args.push_back(memory->address());
    candidate.buffers.push_back(std::move(memory));
  }
  return absl::OkStatus();
}

absl::Status Run(int rounds) {
  TW_ASSIGN_OR_RETURN(const auto device, CreateCpuDevice({.num_threads = 1}));
  TW_ASSIGN_OR_RETURN(const auto codegen, CreateCpuCodegen(device->spec()));
  TW_ASSIGN_OR_RETURN(const auto stream, device->CreateStream());
  const int lanes = static_cast<int>(device->spec().unit().vector_bytes() / 4);

  std::vector<Candidate> candidates;
  PeakLoop peak;
  peak.lanes = lanes;
  peak.accumulators = lanes == 16 ? 24 : 12;
  candidates.push_back({"peak", MakePeakLoop(peak), peak.flops()});
  std::vector<std::pair<int, int>> tiles = {{8, 3}, {6, 4}, {14, 2}, {12, 2},
                                            {9, 3}, {5, 5}, {4, 6},  {28, 1}};
  if (lanes != 16) tiles = {{4, 3}, {6, 2}, {3, 4}};
  for (const auto& [rows, vectors] : tiles) {
    GemmPanel panel;
    panel.rows = rows;
    panel.vectors = vectors;
    panel.lanes = lanes;
    panel.m = 8 * rows;
    candidates.push_back(
        {panel.name(), MakeGemmPanel(panel), panel.flops(), 20});
  }
  for (Candidate& candidate : candidates) {
    TW_RETURN_IF_ERROR(Build(*codegen, *device, candidate));
  }
  for (int round = 0; round < rounds; ++round) {
    for (Candidate& candidate : candidates) {
      TW_ASSIGN_OR_RETURN(const int64_t ns, device->TimeNs(*stream, [&] {
        for (int i = 0; i < candidate.repeats; ++i) {
          TW_RETURN_IF_ERROR(
              stream->Launch(*candidate.resolved, candidate.args, 1, 0));
        }
        return absl::OkStatus();
      }));
      const double gflops = static_cast<double>(candidate.flops) *
                            candidate.repeats / static_cast<double>(ns);
      candidate.best_gflops = std::max(candidate.best_gflops, gflops);
    }
  }
  std::printf("%s, best of %d rounds, one thread\n",
              device->spec().target().c_str(), rounds);
  std::printf("%-12s %8s %7s %7s %7s %9s\n", "kernel", "GFLOP/s", "% peak",
              "spills", "bytes", "build ms");
  for (const Candidate& candidate : candidates) {
    std::printf("%-12s %8.1f %7.1f %7d %7lld %9.1f\n", candidate.name.c_str(),
                candidate.best_gflops,
                100 * candidate.best_gflops / candidates[0].best_gflops,
                candidate.report.spills,
                static_cast<long long>(candidate.report.code_bytes),
                candidate.build_ms);
  }
  return absl::OkStatus();
}

absl::Status Bandwidths(int rounds) {
  TW_ASSIGN_OR_RETURN(const auto device, CreateCpuDevice({.num_threads = 1}));
  TW_ASSIGN_OR_RETURN(const auto codegen, CreateCpuCodegen(device->spec()));
  TW_ASSIGN_OR_RETURN(const auto stream, device->CreateStream());
  for (const auto& [name, bytes] :
       std::initializer_list<std::pair<const char*, int64_t>>{
           {"l1", 16 << 10},
           {"l2", 512 << 10},
           {"l3", 8 << 20},
           {"dram", int64_t{1} << 30}}) {
    ReadLoop loop;
    loop.elements = bytes / 4;
    loop.lanes = static_cast<int>(device->spec().unit().vector_bytes() / 4);
    loop.passes = std::max<int64_t>(1, (int64_t{64} << 20) / bytes);
    Candidate candidate{name, MakeReadLoop(loop), loop.bytes()};
    TW_RETURN_IF_ERROR(Build(*codegen, *device, candidate));
    int64_t best = INT64_MAX;
    for (int round = 0; round < std::min(rounds, 20); ++round) {
      TW_ASSIGN_OR_RETURN(const int64_t ns, device->TimeNs(*stream, [&] {
        return stream->Launch(*candidate.resolved, candidate.args, 1, 0);
      }));
      best = std::min(best, ns);
    }
    std::printf("read %-6s %8.1f GB/s\n", name,
                static_cast<double>(loop.bytes()) / static_cast<double>(best));
  }
  return absl::OkStatus();
}

absl::Status LaunchCost(int num_threads) {
  TW_ASSIGN_OR_RETURN(const auto device,
                      CreateCpuDevice({.num_threads = num_threads}));
  TW_ASSIGN_OR_RETURN(const auto codegen, CreateCpuCodegen(device->spec()));
  TW_ASSIGN_OR_RETURN(const auto stream, device->CreateStream());
  const int64_t tasks = device->num_threads();
  Candidate candidate{"empty", MakeEmptyTasks(tasks)};
  TW_RETURN_IF_ERROR(Build(*codegen, *device, candidate));
  constexpr int kLaunches = 2000;
  int64_t best = INT64_MAX;
  for (int round = 0; round < 10; ++round) {
    TW_ASSIGN_OR_RETURN(const int64_t ns, device->TimeNs(*stream, [&] {
      for (int i = 0; i < kLaunches; ++i) {
        TW_RETURN_IF_ERROR(
            stream->Launch(*candidate.resolved, candidate.args, tasks, 0));
      }
      return absl::OkStatus();
    }));
    best = std::min(best, ns);
  }
  std::printf("launch on %d threads %6.0f ns\n", device->num_threads(),
              static_cast<double>(best) / kLaunches);
  return absl::OkStatus();
}

}  // namespace
}  // namespace tilewright::cpu

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 200;
  if (rounds < 1) {
    std::fprintf(stderr, "usage: microkernel_bench [ROUNDS]\n");
    return 2;
  }
  absl::Status status = tilewright::cpu::Run(rounds);
  if (status.ok()) status = tilewright::cpu::Bandwidths(rounds);
  for (int threads : {1, 0}) {
    if (status.ok()) status = tilewright::cpu::LaunchCost(threads);
  }
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
