#include "sketch/testing/sample_groups.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "backends/spec/load_spec.h"
#include "base/check.h"
#include "base/random.h"
#include "sketch/fused/fused_schedule.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/testing/dot_workloads.h"
#include "sketch/testing/fused_outputs.h"
#include "sketch/testing/fused_windows.h"
#include "sketch/testing/fused_workloads.h"
#include "sketch/testing/move_workloads.h"
#include "sketch/testing/row_workloads.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/testing/window_workloads.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/rewrite/winograd.h"

namespace tilewright::sketch {
namespace {

int64_t OneOf(Random& random, const std::vector<int64_t>& values) {
  return values[random.Index(values.size())];
}

Layout DrawLayout(Random& random, const std::vector<int64_t>& shape) {
  return random.Bernoulli(0.5) ? Layout::BlockedLast(shape, 1, 16)
                               : Layout::RowMajor(shape);
}

// A convolution of an input whose halo is known to be zero.
Workload DrawHaloConv(Random& random) {
  const int64_t kernel = OneOf(random, {1, 2, 3, 3, 5, 7}),
                dilation = kernel > 3 ? 1 : OneOf(random, {1, 1, 2}),
                span = (kernel - 1) * dilation;
  const int64_t before = random.UniformInt(0, span),
                after = random.UniformInt(0, span);
  const auto size = [&] {
    return random.UniformInt(std::max<int64_t>(1, span + 1 - before - after),
                             9);
  };
  Workload workload = HaloConvRelu(
      OneOf(random, {1, 3, 16}), OneOf(random, {1, 5, 8, 16, 24}), size(),
      size(), kernel, random.UniformInt(1, 3), dilation, before, after);
  for (const char* name : {"X", "Y"}) {
    const TensorId id = *workload.graph.Find(name);
    workload.layouts[id] =
        DrawLayout(random, workload.graph.tensor(id).static_shape());
  }
  return workload;
}

// A product of matrices or a convolution, of f32, with what surrounds it.
Workload DrawProduct(Random& random) {
  if (random.Bernoulli(0.5)) {
    const int64_t m = OneOf(random, {1, 2, 3, 7, 8, 13, 16, 31, 33}),
                  n = OneOf(random, {1, 5, 8, 16, 17, 33, 48, 64, 100});
    const int64_t most = std::max<int64_t>(1, 24000 / (m * n));
    return GemmRelu(m, n, std::min(most, random.UniformInt(1, 400)));
  }
  if (random.Bernoulli(0.5)) return DrawHaloConv(random);
  const int64_t kernel = OneOf(random, {1, 1, 2, 3});
  Workload workload = ConvPadRelu(
      OneOf(random, {1, 3, 8, 16}), OneOf(random, {1, 5, 8, 16, 24}),
      random.UniformInt(kernel, 9), random.UniformInt(kernel, 9), kernel,
      random.UniformInt(1, 2), random.UniformInt(0, kernel - 1));
  for (const char* name : {"X", "Y"}) {
    const TensorId id = *workload.graph.Find(name);
    workload.layouts[id] =
        DrawLayout(random, workload.graph.tensor(id).static_shape());
  }
  return workload;
}

// A chain of maps, one operand broadcast along rows, one along columns.
Workload DrawMap(Random& random) {
  constexpr char kText[] = R"(
    A: $2[$0, $1] = placeholder
    b: $2[$1] = placeholder
    c: $2[$0] = placeholder
    U: $2[$0, $1] = compute (m: $0, n: $1) { A[m, n] * b[n] + c[m] }
    V: $2[$0, $1] = compute (m: $0, n: $1) { max(U[m, n], A[m, n]) }
    Y: $2[$0, $1] = compute (m: $0, n: $1) { V[m, n] * U[m, n] }
    return Y
)";
  absl::StatusOr<Workload> workload = ParseWorkload(
      absl::Substitute(kText, OneOf(random, {1, 2, 3, 7, 16, 33}),
                       OneOf(random, {1, 3, 8, 16, 17, 31, 64, 100, 257}),
                       random.Bernoulli(0.7) ? "f32" : "f16"));
  TW_CHECK(workload.ok()) << std::string(workload.status().message());
  return *std::move(workload);
}

// A convolution that F(2, 3) may compute.
Workload DrawWinograd(Random& random) {
  Workload workload =
      ConvPadRelu(OneOf(random, {1, 3, 8, 16}), OneOf(random, {16, 24, 32}),
                  random.UniformInt(2, 8), random.UniformInt(2, 10), 3, 1, 1);
  workload.graph = MarkWinograd(workload.graph, ComputeRole::kWinograd2,
                                [](const WinogradCase&) { return 2; })
                       .graph;
  const TensorId output = workload.graph.outputs()[0];
  workload.layouts[output] =
      Layout::BlockedLast(workload.graph.tensor(output).static_shape(), 1, 16);
  return workload;
}

// Data movement; most is elementwise, some crosses dimensions.
Workload DrawCrossing(uint64_t seed) {
  Workload workload = DrawMove(seed);
  for (uint64_t i = 1;
       i < 6 && Generators(workload).front().name == "elementwise"; ++i)
    workload = DrawMove(seed + (i << 32));
  return workload;
}

// A stage of a fused group as a group of its own.
Workload DrawStage(Random& random, uint64_t seed) {
  std::vector<Workload> stages = UnfusedWorkloads(DrawFused(seed));
  return std::move(stages[random.Index(stages.size())]);
}

DeviceSpec DrawSpec(Random& random) {
  const char* const names[] = {"cpu_x86_64_v2", "cpu_x86_64_v3",
                               "cpu_x86_64_v4", "cpu_x86_64_v4_vnni",
                               "cpu_x86_64_v4_bf16"};
  absl::StatusOr<DeviceSpec> spec =
      LoadSpec(names[random.Index(std::size(names))]);
  TW_CHECK(spec.ok()) << std::string(spec.status().message());
  // Few cores: tasks of several tiles.
  const int64_t cores = random.UniformInt(0, 2);
  if (cores > 0) spec->mutable_unit()->set_cores(cores);
  return *std::move(spec);
}

}  // namespace

SampleGroup DrawSampleGroup(uint64_t seed) {
  Random random(seed);
  SampleGroup group;
  group.source = kSampleSources[seed % std::size(kSampleSources)];
  group.spec = DrawSpec(random);
  const absl::string_view source = group.source;
  const bool fused = source.substr(0, 5) == "fused";
  group.exact = !fused && seed / std::size(kSampleSources) % 2 == 0;
  if (fused) {
    FusedWorkload fused = source == "fused"           ? DrawFused(seed)
                          : source == "fused windows" ? DrawWindowChain(seed)
                                                      : DrawGivingOut(seed);
    group.workload = std::move(fused.workload);
    group.generator = FusedGenerator(std::move(fused.plan));
    return group;
  }
  if (source == "product") group.workload = DrawProduct(random);
  if (source == "dot") group.workload = DrawDot(seed);
  if (source == "window") group.workload = DrawWindow(seed);
  if (source == "rows") group.workload = DrawRows(seed);
  if (source == "move") group.workload = DrawCrossing(seed);
  if (source == "map") group.workload = DrawMap(random);
  if (source == "winograd") group.workload = DrawWinograd(random);
  if (source == "stages") group.workload = DrawStage(random, seed);
  group.generator = Generators(group.workload).front();
  return group;
}

}  // namespace tilewright::sketch
