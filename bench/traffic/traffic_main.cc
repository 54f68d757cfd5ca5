// Groups computed tile by tile, with many tiles each: bytes into the cache of a
// core as predicted and as simulated, time as predicted and as measured, and
// how far the rankings agree.
//
//   traffic [PROBE...]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "backends/cache_sim/simulate_kernel.h"
#include "backends/codegen.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/device.h"
#include "backends/lowering/tile/lower.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "bench/measuring/kendall_tau.h"
#include "sketch/fused/fused_schedule.h"
#include "sketch/replay/replay.h"
#include "sketch/testing/fused_windows.h"
#include "sketch/testing/fused_workloads.h"
#include "tilegraph/cost/group_cost.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/text/text_form.h"
#include "tilegraph/traffic/mem_traffic.h"

namespace tilewright {
namespace {

using sketch::FusedWorkload;

constexpr int kRuns = 25;

struct Probe {
  const char* name;
  FusedWorkload fused;
  std::vector<std::vector<int64_t>> tiles;
  bool simulated = true;  // few enough accesses
};

// The softmax of a product: 2048 rows of 512.
FusedWorkload ScoresSoftmax() {
  FusedWorkload fused;
  const absl::StatusOr<TensorGraph> graph = ParseText(R"(
    Q: f32[2048, 64] = placeholder
    K: f32[64, 512] = placeholder
    S: f32[2048, 512] = compute (m: 2048, n: 512) reduce (k: 64) sum:f32 {
      Q[m, k] * K[k, n] }
    M: f32[2048] = compute (m: 2048) reduce (n: 512) max:f32 { S[m, n] }
    E: f32[2048, 512] = compute (m: 2048, n: 512) { exp(S[m, n] - M[m]) }
    T: f32[2048] = compute (m: 2048) reduce (n: 512) sum:f32 { E[m, n] }
    Y: f32[2048, 512] = compute (m: 2048, n: 512) { E[m, n] / T[m] }
    return Y
  )");
  TW_CHECK(graph.ok()) << graph.status();
  fused.workload.graph = *graph;
  const Layout rows = Layout::RowMajor({2048, 512});
  fused.workload.stages = {{2}, {3, 4, 5, 6}};
  fused.plan.stages = {{rows}, {rows}};
  return fused;
}

std::vector<Probe> Probes() {
  std::vector<Probe> probes = {
      {"mlp", sketch::Mlp(4096, {64, 64, 64, 64}), {}},
      {"tokens", sketch::TokenMlp(784, 96, 384), {}},
      {"attention", sketch::Attention(2, 512, 512, 64), {}},
      {"pointwise", sketch::Pointwise(28, 28, {64, 64, 256}), {}},
      {"inverted", sketch::InvertedResidual(32, 128, 32, 112, 1), {}},
      {"softmax", ScoresSoftmax(), {}},
      {"attention2048", sketch::Attention(1, 2048, 2048, 64), {}, false},
  };
  for (const int64_t rows : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096})
    probes[0].tiles.push_back({rows, 64});
  for (const int64_t rows : {1, 2, 4, 7, 8, 14, 16, 28, 49, 98, 196, 392, 784})
    probes[1].tiles.push_back({rows, 96});
  for (const int64_t rows : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512})
    probes[2].tiles.push_back({1, rows, 64});
  for (const int64_t rows : {1, 2, 4, 7, 14, 28}) {
    for (const int64_t channels : {64, 256})
      probes[3].tiles.push_back({1, channels, rows, 28});
  }
  for (const int64_t columns : {14, 28, 112}) {
    for (const int64_t rows : {1, 2, 4, 8, 28})
      probes[4].tiles.push_back({1, 32, rows, columns});
  }
  for (const int64_t rows : {1, 2, 4, 8, 16, 32, 64, 128, 512, 2048})
    probes[5].tiles.push_back({rows, 512});
  for (const int64_t rows : {1, 2, 4, 8, 16, 32, 64, 128, 512})
    probes[6].tiles.push_back({1, rows, 64});
  return probes;
}

struct Row {
  double predicted_bytes = 0, simulated_bytes = 0;
  double predicted_seconds = 0, measured_seconds = 0;
};

// The workload as a plan of one group.
Plan PlanOf(const FusedWorkload& fused) {
  Plan plan;
  Group& group = plan.groups.emplace_back();
  const TensorGraph& graph = fused.workload.graph;
  for (const Tensor& tensor : graph.tensors()) {
    (tensor.kind == TensorKind::kCompute ? group.members : group.inputs)
        .push_back(tensor.id);
  }
  group.output = graph.outputs()[0];
  for (size_t s = 0; s < fused.workload.stages.size(); ++s) {
    const std::vector<TensorId>& members = fused.workload.stages[s];
    group.stages.push_back({members});
    plan.layouts.emplace(members.back(), fused.plan.stages[s].layout);
  }
  group.tile_plan.tile = fused.plan.tile;
  return plan;
}

// The predicted traffic between a core's private cache and the levels behind
// it.
absl::StatusOr<double> PredictedBytes(const FusedWorkload& fused,
                                      const DeviceSpec& spec, int level) {
  const Plan plan = PlanOf(fused);
  const TileGraph tiles(fused.workload.graph, plan.groups[0].members);
  const Subgraph part = tiles.SubgraphOf(plan.groups[0].members);
  TrafficOptions options;
  options.layouts = plan.layouts;
  for (const Stage& stage : plan.groups[0].stages) {
    for (const TensorId member : stage.members) {
      if (member != stage.members.back()) options.in_registers.insert(member);
    }
  }
  MemTraffic traffic(tiles, part, spec.levels(level - 1), spec.levels(level),
                     options);
  LevelTiles loops{{fused.plan.tile, {}}, {}};
  for (size_t d = 0; d < fused.plan.tile.size(); ++d)
    loops.order.push_back(static_cast<int>(d));
  TW_ASSIGN_OR_RETURN(
      const LevelCost cost,
      traffic.Cost(
          loops, fused.workload.graph.tensor(part.outputs[0]).static_shape()));
  return cost.bytes();
}

absl::StatusOr<double> SimulatedBytes(const kernel_ir::ScalarKernel& scalar,
                                      const DeviceSpec& spec,
                                      const std::string& level) {
  std::vector<std::string> args;
  for (const kernel_ir::ScalarBuffer& buffer : scalar.buffers) {
    if (buffer.role != kernel_ir::Role::kLocal)
      args.push_back(
          std::string(buffer.elements * SizeBytes(buffer.dtype), '\0'));
  }
  TW_ASSIGN_OR_RETURN(
      const auto crossings,
      cache_sim::SimulateKernel(scalar, absl::MakeSpan(args), spec));
  for (const cache_sim::Crossing& crossing : crossings) {
    if (crossing.inner == level) return static_cast<double>(crossing.bytes());
  }
  return absl::NotFoundError("no level " + level);
}

absl::StatusOr<double> MeasuredSeconds(const kernel_ir::ScalarKernel& scalar,
                                       const backends::Codegen& codegen,
                                       backends::Device& device) {
  TW_ASSIGN_OR_RETURN(const backends::Module code, codegen.Emit({scalar}));
  TW_ASSIGN_OR_RETURN(const auto module,
                      device.LoadModule(code.bytes, code.target));
  TW_ASSIGN_OR_RETURN(const auto kernel, device.GetKernel(*module, "kernel"));
  std::vector<std::unique_ptr<backends::DeviceBuffer>> buffers;
  std::vector<void*> args;
  for (const kernel_ir::ScalarBuffer& buffer : scalar.buffers) {
    if (buffer.role == kernel_ir::Role::kLocal) continue;
    const int64_t bytes = buffer.elements * SizeBytes(buffer.dtype);
    TW_ASSIGN_OR_RETURN(auto memory, device.Allocate(bytes));
    std::fill_n(static_cast<char*>(memory->address()), bytes, 0x3c);
    args.push_back(memory->address());
    buffers.push_back(std::move(memory));
  }
  TW_ASSIGN_OR_RETURN(const auto stream, device.CreateStream());
  int64_t least_ns = INT64_MAX;
  for (int run = 0; run < kRuns; ++run) {
    TW_ASSIGN_OR_RETURN(const int64_t ns, device.TimeNs(*stream, [&] {
      return stream->Launch(*kernel, args, scalar.num_tasks,
                            scalar.scratch_bytes);
    }));
    if (run > 0) least_ns = std::min(least_ns, ns);
  }
  return static_cast<double>(least_ns) * 1e-9;
}

absl::StatusOr<Row> Compare(const FusedWorkload& fused, bool simulated,
                            const backends::Codegen& codegen,
                            backends::Device& device, int level) {
  const DeviceSpec& spec = codegen.spec();
  Row row;
  TW_ASSIGN_OR_RETURN(row.predicted_bytes, PredictedBytes(fused, spec, level));
  const Plan plan = PlanOf(fused);
  const GroupEvaluator evaluator(fused.workload.graph, plan, spec);
  TW_ASSIGN_OR_RETURN(const GroupCost cost,
                      evaluator.Cost(plan.groups[0], fused.plan.tile));
  row.predicted_seconds = cost.one_core_seconds;
  TW_ASSIGN_OR_RETURN(const sketch::Schedule schedule,
                      sketch::FusedSchedule(fused.workload, spec, fused.plan));
  TW_ASSIGN_OR_RETURN(const sketch::BlockTree tree,
                      sketch::Replay(fused.workload, schedule));
  TW_ASSIGN_OR_RETURN(const kernel_ir::Kernel tiles,
                      lowering::Lower(tree, "kernel"));
  TW_ASSIGN_OR_RETURN(const kernel_ir::ScalarKernel scalar,
                      codegen.Legalize(tiles));
  TW_ASSIGN_OR_RETURN(row.measured_seconds,
                      MeasuredSeconds(scalar, codegen, device));
  if (!simulated) return row;
  TW_ASSIGN_OR_RETURN(row.simulated_bytes,
                      SimulatedBytes(scalar, spec, spec.levels(level).name()));
  return row;
}

absl::Status Run(const std::vector<std::string>& names) {
  TW_ASSIGN_OR_RETURN(const auto device,
                      cpu::CreateCpuDevice({.num_threads = 1}));
  TW_ASSIGN_OR_RETURN(const auto codegen,
                      cpu::CreateCpuCodegen(device->spec()));
  int level = 1;
  while (codegen->spec().levels(level).scope() != MemoryLevel::CORE) ++level;
  for (Probe& probe : Probes()) {
    if (!names.empty() &&
        std::find(names.begin(), names.end(), probe.name) == names.end())
      continue;
    std::vector<double> predicted, simulated, predicted_bytes, measured;
    for (const std::vector<int64_t>& tile : probe.tiles) {
      probe.fused.plan.tile = tile;
      const absl::StatusOr<Row> row =
          Compare(probe.fused, probe.simulated, *codegen, *device, level);
      const std::string text = absl::StrJoin(tile, "x");
      if (!row.ok()) {
        std::printf("%-10s %-12s %s\n", probe.name, text.c_str(),
                    row.status().ToString().c_str());
        continue;
      }
      std::printf(
          "%-10s %-12s into %s: predicted %7.0f KiB, simulated %7.0f "
          "KiB;  time: predicted %7.3f ms, measured %7.3f ms\n",
          probe.name, text.c_str(),
          codegen->spec().levels(level).name().c_str(),
          row->predicted_bytes / 1024, row->simulated_bytes / 1024,
          row->predicted_seconds * 1e3, row->measured_seconds * 1e3);
      predicted.push_back(row->predicted_seconds);
      predicted_bytes.push_back(row->predicted_bytes);
      simulated.push_back(row->simulated_bytes);
      measured.push_back(row->measured_seconds);
    }
    std::printf(
        "%-10s Kendall's tau: time %.2f, bytes predicted and "
        "simulated %.2f\n",
        probe.name, bench::KendallTau(predicted, measured),
        bench::KendallTau(predicted_bytes, simulated));
    std::fflush(stdout);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  const absl::Status status =
      tilewright::Run(std::vector<std::string>(argv + 1, argv + argc));
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
