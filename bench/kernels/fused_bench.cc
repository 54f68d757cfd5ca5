// Groups computed tile by tile beside the same stages as kernels of their own:
// how fast each is, in one process and in turn. For people who work on the
// rules of fused schedules.
//
//   fused_bench [--seconds=S] [--threads=N] [--tile=16,64] [--steps=0,128]
//                [--show] [PROBE...]
//
// prints, for every probe and tile, the median and the least time of both;
// steps: of the last product, taken at a time. Show: the schedule and the
// scalar tier of the fused kernels instead.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/codegen.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/device.h"
#include "backends/lowering/tile/lower.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "sketch/fused/fused_schedule.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/testing/fused_outputs.h"
#include "sketch/testing/fused_workloads.h"

namespace tilewright::bench {
namespace {

using sketch::FusedWorkload;
using sketch::GiveOut;

struct Options {
  std::vector<std::string> probes;
  std::vector<int64_t> tile;
  std::vector<int64_t> steps = {0};
  double seconds = 0.5;  // of every probe
  int threads = 1;
  bool show = false;
};

struct Probe {
  const char* name;
  FusedWorkload (*make)();
  std::vector<std::vector<int64_t>> tiles;
};

std::vector<Probe> Probes() {
  return {
      {"mlp64",
       [] { return sketch::Mlp(512, std::vector<int64_t>(5, 64)); },
       {{16, 64}, {24, 64}, {32, 64}, {48, 64}, {64, 64}, {128, 64}}},
      {"mlp64_long",
       [] { return sketch::Mlp(65536, std::vector<int64_t>(8, 64)); },
       {{16, 64}, {32, 64}, {64, 64}, {128, 64}, {256, 64}}},
      {"convnext1",
       [] { return sketch::TokenMlp(3136, 96, 384); },
       {{14, 96}, {28, 96}, {32, 96}, {49, 96}, {56, 96}, {98, 96}, {196, 96}}},
      {"convnext2",
       [] { return sketch::TokenMlp(784, 192, 768); },
       {{14, 192}, {28, 192}, {56, 192}, {98, 192}}},
      {"convnext3",
       [] { return sketch::TokenMlp(196, 384, 1536); },
       {{14, 384}, {28, 384}, {49, 384}, {98, 384}}},
      {"convnext4",
       [] { return sketch::TokenMlp(49, 768, 3072); },
       {{13, 768}, {25, 768}, {49, 768}}},
      {"attention49",  // Swin, windows of stage 1
       [] { return sketch::Attention(192, 49, 49, 32, true); },
       {{1, 49, 32}, {4, 49, 32}, {6, 49, 32}}},
      {"attention128",
       [] { return sketch::Attention(12, 128, 128, 64); },
       {{1, 16, 64}, {1, 32, 64}, {1, 64, 64}, {1, 128, 64}}},
      {"attention197",  // ViT
       [] { return sketch::Attention(6, 197, 197, 64); },
       {{1, 16, 64}, {1, 32, 64}, {1, 40, 64}, {1, 100, 64}, {1, 197, 64}}},
      {"attention512",
       [] { return sketch::Attention(12, 512, 512, 64); },
       {{1, 16, 64}, {1, 32, 64}, {1, 64, 64}, {1, 128, 64}}},
      {"attention2048",
       [] { return sketch::Attention(12, 2048, 2048, 64); },
       {{1, 8, 64}, {1, 16, 64}, {1, 32, 64}, {1, 64, 64}, {1, 128, 64}}},
      {"bert_ffn",
       [] { return sketch::TokenMlp(128, 768, 3072); },
       {{16, 768}, {64, 768}}},
      {"bert_ffn512",
       [] { return sketch::TokenMlp(512, 768, 3072); },
       {{16, 768}, {32, 768}, {64, 768}, {128, 768}}},
      {"pointwise",
       [] {
         return sketch::Pointwise(56, 56, {64, 64, 256});
       },
       {{1, 256, 1, 56}, {1, 256, 2, 56}, {1, 256, 4, 56}}},
      // Several outputs: a residual stream and its norm, and what reads that.
      {"add_norm",
       [] { return GiveOut(sketch::AddNorm(3136, 0, 96, 0), {0}); },
       {{16, 96}, {49, 96}, {196, 96}}},
      {"vit_proj",
       [] { return GiveOut(sketch::AddNorm(197, 384, 384, 0), {0}); },
       {{16, 384}, {28, 384}, {50, 384}, {99, 384}}},
      {"vit_proj_up",
       [] { return GiveOut(sketch::AddNorm(197, 384, 384, 1536), {0}); },
       {{28, 1536}, {50, 1536}, {99, 1536}}},
      {"vit_down",
       [] { return GiveOut(sketch::AddNorm(197, 1536, 384, 0), {0}); },
       {{28, 384}, {50, 384}, {99, 384}}},
      {"swin_down1",
       [] { return GiveOut(sketch::AddNorm(3136, 384, 96, 0), {0}); },
       {{16, 96}, {49, 96}, {98, 96}, {196, 96}}},
      {"swin_proj1",
       [] { return GiveOut(sketch::AddNorm(3136, 96, 96, 384), {0}); },
       {{16, 384}, {49, 384}, {98, 384}}},
      {"bert_norm_up",
       [] { return GiveOut(sketch::AddNorm(128, 768, 768, 3072), {1}); },
       {{16, 3072}, {32, 3072}, {64, 3072}}},
      {"bert_down",  // one output
       [] { return sketch::AddNorm(128, 3072, 768, 0); },
       {{16, 768}, {32, 768}, {64, 768}}},
      {"mobilenet_residual",
       [] {
         return GiveOut(sketch::Pointwise(56, 56, {144, 32, 192}), {0});
       },
       {{1, 192, 1, 56}, {1, 192, 2, 56}, {1, 192, 4, 56}, {1, 192, 8, 56}}},
  };
}

// Buffers by the names of tensors: what one kernel writes the next one reads.
class Memory {
 public:
  explicit Memory(backends::Device& device) : device_(device) {}

  absl::StatusOr<void*> Get(const std::string& name, int64_t bytes) {
    auto& [size, buffer] = buffers_[name];
    if (!buffer) {
      TW_ASSIGN_OR_RETURN(buffer, device_.Allocate(bytes));
      size = bytes;
      std::fill_n(static_cast<char*>(buffer->address()), bytes, 0x3c);
    }
    if (size < bytes) return absl::InternalError(name + " is too small");
    return buffer->address();
  }

 private:
  backends::Device& device_;
  std::map<std::string,
           std::pair<int64_t, std::unique_ptr<backends::DeviceBuffer>>>
      buffers_;
};

// Kernels that run one after the other.
struct Chain {
  struct Kernel {
    std::unique_ptr<backends::DeviceModule> module;
    std::unique_ptr<backends::DeviceKernel> resolved;
    std::vector<void*> args;
    int64_t tasks = 0, scratch_bytes = 0;
    int spills = 0;
  };
  std::string name;
  std::vector<Kernel> kernels;
  std::vector<int64_t> times_ns;

  int64_t Median() const {
    std::vector<int64_t> sorted = times_ns;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
  int64_t Least() const {
    return *std::min_element(times_ns.begin(), times_ns.end());
  }
};

absl::Status Add(const sketch::Workload& workload,
                 const sketch::Schedule& schedule,
                 const backends::Codegen& codegen, backends::Device& device,
                 bool show, Memory& memory, Chain& chain) {
  TW_ASSIGN_OR_RETURN(const sketch::BlockTree tree,
                      sketch::Replay(workload, schedule));
  TW_ASSIGN_OR_RETURN(const kernel_ir::Kernel tiles,
                      lowering::Lower(tree, "kernel"));
  TW_ASSIGN_OR_RETURN(const kernel_ir::ScalarKernel scalar,
                      codegen.Legalize(tiles));
  if (show) {
    std::printf("%s\n%s\n%s\n", schedule.ToString().c_str(),
                tree.ToString().c_str(), scalar.ToString().c_str());
  }
  TW_ASSIGN_OR_RETURN(const backends::Module module, codegen.Emit({scalar}));
  Chain::Kernel& kernel = chain.kernels.emplace_back();
  TW_ASSIGN_OR_RETURN(kernel.module,
                      device.LoadModule(module.bytes, module.target));
  TW_ASSIGN_OR_RETURN(kernel.resolved,
                      device.GetKernel(*kernel.module, "kernel"));
  kernel.tasks = scalar.num_tasks;
  kernel.scratch_bytes = scalar.scratch_bytes;
  kernel.spills = module.kernels[0].spills;
  for (const kernel_ir::ScalarBuffer& buffer : scalar.buffers) {
    if (buffer.role == kernel_ir::Role::kLocal) continue;
    // Every kernel packs the constants in its own way.
    const std::string name =
        buffer.name[0] == 'w'
            ? chain.name + std::to_string(chain.kernels.size()) + buffer.name
            : buffer.name;
    TW_ASSIGN_OR_RETURN(
        void* address,
        memory.Get(name, buffer.elements * SizeBytes(buffer.dtype)));
    kernel.args.push_back(address);
  }
  return absl::OkStatus();
}

absl::Status Run(const Chain& chain, backends::Stream& stream) {
  for (const Chain::Kernel& kernel : chain.kernels) {
    TW_RETURN_IF_ERROR(stream.Launch(*kernel.resolved, kernel.args,
                                     kernel.tasks, kernel.scratch_bytes));
  }
  return absl::OkStatus();
}

absl::Status Measure(const Probe& probe, const Options& options,
                     const backends::Codegen& codegen,
                     backends::Device& device) {
  FusedWorkload fused = probe.make();
  Memory memory(device);
  std::vector<Chain> chains(1);
  chains[0].name = "apart";
  for (const sketch::Workload& group : sketch::UnfusedWorkloads(fused)) {
    TW_ASSIGN_OR_RETURN(const sketch::Schedule schedule,
                        sketch::DefaultSchedule(group, codegen.spec()));
    TW_RETURN_IF_ERROR(
        Add(group, schedule, codegen, device, false, memory, chains[0]));
  }
  const std::vector<std::vector<int64_t>> tiles =
      options.tile.empty() ? probe.tiles
                           : std::vector<std::vector<int64_t>>{options.tile};
  for (const std::vector<int64_t>& tile : tiles) {
    for (const int64_t steps : options.steps) {
      Chain& chain = chains.emplace_back();
      chain.name = absl::StrJoin(tile, "x");
      if (steps > 0) absl::StrAppend(&chain.name, " by ", steps);
      fused.plan.tile = tile;
      fused.plan.stages.back().reduce_step = steps;
      TW_ASSIGN_OR_RETURN(
          const sketch::Schedule schedule,
          sketch::FusedSchedule(fused.workload, codegen.spec(), fused.plan));
      TW_RETURN_IF_ERROR(Add(fused.workload, schedule, codegen, device,
                             options.show, memory, chain));
    }
  }
  if (options.show) return absl::OkStatus();
  TW_ASSIGN_OR_RETURN(const auto stream, device.CreateStream());
  int64_t spent_ns = 0;
  for (int round = 0;
       round < 5 || static_cast<double>(spent_ns) < options.seconds * 1e9;
       ++round) {
    for (Chain& chain : chains) {
      TW_ASSIGN_OR_RETURN(const int64_t ns, device.TimeNs(*stream, [&] {
        return Run(chain, *stream);
      }));
      spent_ns += ns;
      if (round > 0) chain.times_ns.push_back(ns);
    }
  }
  for (const Chain& chain : chains) {
    int spills = 0;
    int64_t scratch = 0;
    for (const Chain::Kernel& kernel : chain.kernels) {
      spills += kernel.spills;
      scratch = std::max(scratch, kernel.scratch_bytes);
    }
    std::printf(
        "%-14s %-16s median %9.4f ms (x %5.3f)  least %9.4f ms (x %5.3f)  "
        "tasks %lld  scratch %lld  spills %d\n",
        probe.name, chain.name.c_str(),
        static_cast<double>(chain.Median()) * 1e-6,
        static_cast<double>(chains[0].Median()) /
            static_cast<double>(chain.Median()),
        static_cast<double>(chain.Least()) * 1e-6,
        static_cast<double>(chains[0].Least()) /
            static_cast<double>(chain.Least()),
        static_cast<long long>(chain.kernels.back().tasks),
        static_cast<long long>(scratch), spills);
  }
  std::fflush(stdout);
  return absl::OkStatus();
}

absl::Status Run(const Options& options) {
  TW_ASSIGN_OR_RETURN(const auto device,
                      cpu::CreateCpuDevice({.num_threads = options.threads}));
  TW_ASSIGN_OR_RETURN(const auto codegen,
                      cpu::CreateCpuCodegen(device->spec()));
  for (const Probe& probe : Probes()) {
    if (!options.probes.empty() &&
        std::find(options.probes.begin(), options.probes.end(), probe.name) ==
            options.probes.end())
      continue;
    const absl::Status status = Measure(probe, options, *codegen, *device);
    if (!status.ok())
      std::printf("%-14s %s\n", probe.name, status.ToString().c_str());
  }
  return absl::OkStatus();
}

constexpr char kUsage[] =
    "fused_bench [--seconds=S] [--threads=N] [--tile=16,64] [--steps=0,128] "
    "[--show] [PROBE...]";

int Main(const std::vector<std::string>& arguments) {
  Options options;
  OptionParser parser;
  parser.Flag("show", &options.show);
  parser.List("tile", &options.tile, 1);
  parser.List("steps", &options.steps, 0);
  parser.Number("seconds", &options.seconds, 0.0);
  parser.Number("threads", &options.threads, 1);
  absl::StatusOr<std::vector<std::string>> probes = parser.Parse(arguments);
  if (!probes.ok()) return ReportUsage(kUsage, probes.status());
  options.probes = *std::move(probes);
  return ReportStatus("fused_bench", Run(options));
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) {
  return tilewright::bench::Main({argv + 1, argv + argc});
}
