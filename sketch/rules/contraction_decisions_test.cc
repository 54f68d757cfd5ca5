// Whatever is decided about a contraction, its tree computes what the graph
// means, and decisions that may not change bits do not.
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/spec/load_spec.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/rules/generator.h"
#include "sketch/testing/dot_workloads.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "sketch/tree/block_tree.h"
#include "sketch/tree/block_tree_interpreter.h"
#include "sketch/tree/block_tree_verifier.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/decision/table.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {
namespace {

using ::testing::IsEmpty;

constexpr uint64_t kSeeds = 30;  // of each workload
// Trees that are only looked at: enough of them for every option.
constexpr uint64_t kReplayedSeeds = 20 * kSeeds;

Workload BlockedConv() {
  Workload workload = ConvPadRelu(32, 16, 3, 5, 2, 1, 1);
  for (const char* name : {"X", "Y"}) {
    const TensorId id = *workload.graph.Find(name);
    workload.layouts[id] = Layout::BlockedLast(
        workload.graph.tensor(id).static_shape(), 1, name[0] == 'X' ? 16 : 8);
  }
  return workload;
}

Workload Parsed(const char* text) {
  absl::StatusOr<Workload> workload = ParseWorkload(text);
  EXPECT_TRUE(workload.ok()) << workload.status();
  return *std::move(workload);
}

Workload BatchedProduct() {
  return Parsed(R"(A: f64[2, 7, 35] = placeholder
B: f64[2, 35, 17] = placeholder
T: f64[2, 7, 17] = compute (b: 2, m: 7, n: 17) reduce (k: 35) sum:f64 { A[b, m, k] * B[b, k, n] }
return T
)");
}

// A convolution in f64, whose sums the interpreter does not round again:
// another order shows.
Workload DoubleConv() {
  return Parsed(R"(X: f64[1, 6, 5, 10] = placeholder
W: f64[5, 6, 2, 2] = placeholder
T: f64[1, 5, 4, 9] = compute (n: 1, o: 5, h: 4, w: 9) reduce (c: 6, i: 2, j: 2) sum:f64 { X[n, c, h + i, w + j] * W[o, c, i, j] }
Y: f64[1, 5, 4, 9] = compute (n: 1, o: 5, h: 4, w: 9) { max(T[n, o, h, w], 0) }
return Y
)");
}

std::map<std::string, Workload> Workloads() {
  std::map<std::string, Workload> workloads;
  workloads.emplace("gemm", GemmRelu(13, 40, 34));
  workloads.emplace("conv", ConvPadRelu(3, 6, 5, 11, 3, 1, 1));
  workloads.emplace("blocked conv", BlockedConv());
  workloads.emplace("halo conv", HaloConvRelu(2, 6, 5, 9, 3, 2, 1, 1, 1));
  workloads.emplace("wide halo", HaloConvRelu(2, 5, 4, 6, 5, 1, 1, 2, 3));
  workloads.emplace("batched product", BatchedProduct());
  workloads.emplace("bytes", NarrowGemm(DType::kUInt8, 5, 24, 40));
  workloads.emplace("bf16", NarrowGemm(DType::kBFloat16, 5, 24, 40));
  return workloads;
}

DeviceSpec Spec() {
  // With both dot intrinsics; of one core, so that tasks may take several
  // steps.
  DeviceSpec spec = *LoadSpec("cpu_x86_64_v4_bf16");
  spec.mutable_unit()->set_cores(1);
  return spec;
}

struct Drawn {
  DecisionTable table;
  absl::StatusOr<Schedule> schedule;
  absl::StatusOr<BlockTree> tree;
};

Drawn Draw(const Workload& workload, DecisionPolicy& policy) {
  static const DeviceSpec& spec = *new DeviceSpec(Spec());
  Decider decider(policy);
  Drawn drawn{{}, absl::UnknownError(""), absl::UnknownError("")};
  drawn.schedule =
      Generate(Generators(workload).front(), workload, spec, decider);
  drawn.table = decider.decisions();
  if (drawn.schedule.ok()) {
    drawn.tree = Replay(workload, *drawn.schedule);
  } else {
    drawn.tree = drawn.schedule.status();
  }
  return drawn;
}

TEST(ContractionDecisionsTest, AllTreesComputeWhatTheGraphMeans) {
  std::map<std::string, std::set<std::string>> offered, taken;
  std::map<std::string, int> refused;
  int draws = 0, refusals = 0;
  for (const auto& [name, workload] : Workloads()) {
    for (uint64_t seed = 0; seed < kReplayedSeeds; ++seed) {
      RandomPolicy policy(seed);
      const Drawn drawn = Draw(workload, policy);
      const std::string where = name + ", seed " + std::to_string(seed) + "\n" +
                                ToString(drawn.table);
      ++draws;
      if (!drawn.tree.ok()) {
        ASSERT_EQ(drawn.tree.status().code(),
                  absl::StatusCode::kInvalidArgument)
            << where;
        ++refusals;
        ++refused[name + ": " + std::string(drawn.tree.status().message())];
        continue;
      }
      ASSERT_THAT(VerifyBlockTree(*drawn.tree), IsOk()) << where;
      if (seed < kSeeds) {
        ASSERT_THAT(CheckTree(*drawn.tree, workload, seed), IsOk()) << where;
      }
      for (const Decision& decision : drawn.table) {
        if (decision.space.kind() != Space::Kind::kOneOf) continue;
        const std::vector<std::string>& options = decision.space.options();
        offered[decision.name].insert(options.begin(), options.end());
        taken[decision.name].insert(decision.space.Print(decision.value));
      }
      PreferredPolicy preferred;
      TablePolicy table(AnswersOf(drawn.table), preferred);
      const Drawn again = Draw(workload, table);
      ASSERT_THAT(again.schedule.status(), IsOk()) << where;
      EXPECT_EQ(*again.schedule, *drawn.schedule) << where;
      EXPECT_THAT(table.Rounded(), IsEmpty()) << where;
      EXPECT_THAT(table.Unused(), IsEmpty()) << where;
    }
  }
  std::printf("%d of %d refused\n", refusals, draws);
  for (const auto& [reason, count] : refused)
    std::printf("  %d x %s\n", count, reason.c_str());
  EXPECT_LT(refusals, draws / 10);
  // Decisions that lowering resolves are covered by decision_coverage_test.
  for (auto* of : {&taken, &offered}) {
    of->erase("prefetch");
    of->erase("unroll");
  }
  EXPECT_EQ(taken, offered);
  for (const char* name :
       {"lanes", "rows", "dot", "reduce", "edges", "pack.b", "pack.a"})
    EXPECT_GT(offered[name].size(), 1u) << name;
}

using Outputs = std::vector<double>;

Outputs Compute(const BlockTree& tree, const Workload& workload) {
  Random random(7);
  std::map<TensorId, HostTensor> inputs;
  for (const Tensor& tensor : workload.graph.tensors()) {
    if (tensor.kind != TensorKind::kPlaceholder) continue;
    HostTensor value(tensor.dtype, tensor.static_shape());
    for (int64_t i = 0; i < value.num_elements(); ++i)
      value.Set(i, Scalar{random.Uniform(-0.5, 0.5), 0});
    inputs.emplace(tensor.id, std::move(value));
  }
  const auto outputs = RunBlockTree(tree, workload, inputs, {});
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  Outputs values;
  if (!outputs.ok()) return values;
  for (const auto& [id, tensor] : *outputs) {
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      values.push_back(tensor.Get(i).f);
  }
  return values;
}

TEST(ContractionDecisionsTest, OnlyThoseThatMayChangeBitsDo) {
  int changed = 0;
  for (const Workload& workload : {BatchedProduct(), DoubleConv()}) {
    PreferredPolicy rule;
    const Drawn preferred = Draw(workload, rule);
    TW_ASSERT_OK(preferred.tree.status());
    const Outputs expected = Compute(*preferred.tree, workload);
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      RandomPolicy random(seed);
      const Drawn any = Draw(workload, random);
      if (any.tree.ok()) changed += Compute(*any.tree, workload) != expected;
      DecisionTable sums;
      for (const Decision& decision : preferred.table) {
        if (decision.bits == Bits::kMayChange) sums.push_back(decision);
      }
      TablePolicy others(AnswersOf(sums), random);
      const Drawn drawn = Draw(workload, others);
      ASSERT_THAT(others.Rounded(), IsEmpty());
      if (!drawn.tree.ok()) continue;
      ASSERT_EQ(Compute(*drawn.tree, workload), expected)
          << "seed " << seed << "\n"
          << ToString(drawn.table);
    }
  }
  EXPECT_GT(changed, 20);
}

// 16 MiB of rows come from beyond a core's own cache, 128 KiB do not; of rows
// of 16 KiB, and of pieces of rows, those of a tile would not wait in the first
// cache.
TEST(ContractionDecisionsTest, RowsFromFarAreAskedForATileAhead) {
  const DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  for (const auto& [rows, columns, terms, expected] :
       {std::tuple<int64_t, int64_t, int64_t, const char*>{16384, 96, 256,
                                                           "tile"},
        {128, 96, 256, "auto"},
        {1024, 96, 4096, "auto"},
        {1024, 768, 4096, "auto"}}) {
    const Workload workload = GemmRelu(rows, columns, terms);
    TW_ASSERT_OK_AND_ASSIGN(
        const Schedule schedule,
        GeneratePreferred(Generators(workload).front(), workload, spec));
    EXPECT_EQ(AnswersOf(schedule).at("prefetch"), expected) << rows;
  }
}

// Taps of a dilated window are missing at several positions of a row, those of
// a wide one at different ones.
TEST(ContractionDecisionsTest, WindowsLeaveOutTheZerosAroundAnImage) {
  const DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  for (const auto& [kernel, dilation, expected] :
       {std::tuple<int64_t, int64_t, const char*>{3, 1, "rows+columns"},
        {3, 2, "rows+columns"},
        {7, 1, "rows+columns"},
        {9, 1, "rows"}}) {
    const int64_t pad = dilation * (kernel / 2);
    Workload workload =
        HaloConvRelu(16, 32, 28, 28, kernel, 1, dilation, pad, pad);
    for (const Tensor& tensor : workload.graph.tensors()) {
      const std::vector<int64_t> shape = tensor.static_shape();
      if (shape.size() == 4 && tensor.kind != TensorKind::kConstant)
        workload.layouts[tensor.id] = Layout::BlockedLast(shape, 1, 16);
    }
    TW_ASSERT_OK_AND_ASSIGN(
        const Schedule schedule,
        GeneratePreferred(Generators(workload).front(), workload, spec));
    EXPECT_EQ(AnswersOf(schedule).at("edges"), expected)
        << kernel << " " << dilation;
  }
}

// 512 by 512 weights are not in the first-level cache, 64 by 64 are; those of
// several rows are read from there again.
TEST(ContractionDecisionsTest, WeightsOfOneRowAreAskedForAPageAhead) {
  const DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  for (const auto& [rows, size, expected] :
       {std::tuple<int64_t, int64_t, const char*>{1, 512, "8"},
        {1, 64, "auto"},
        {8, 512, "auto"}}) {
    const Workload workload = GemmRelu(rows, size, size);
    TW_ASSERT_OK_AND_ASSIGN(
        const Schedule schedule,
        GeneratePreferred(Generators(workload).front(), workload, spec));
    EXPECT_EQ(AnswersOf(schedule).at("prefetch"), expected) << rows;
  }
}

// Of an image with something added: the loops of the sums themselves, one of
// which is that over images, cover one tile.
TEST(ContractionDecisionsTest, TheNextTileIsThatOfALoopAroundThisOne) {
  const Workload workload = Parsed(R"(
      X: f32[1, 255, 128, 128] = placeholder
      Y: f32[1, 96, 128, 128] = placeholder
      W: f32[96, 255] = placeholder
      T: f32[1, 96, 128, 128] = compute (n: 1, o: 96, h: 128, w: 128) reduce (c: 255) sum:f32 { X[n, c, h, w] * W[o, c] } hint "conv"
      Z: f32[1, 96, 128, 128] = compute (n: 1, o: 96, h: 128, w: 128) { T[n, o, h, w] + Y[n, o, h, w] }
      return Z
#constant W
#layout X (1, 255, 128, 128) [d0, d2, d3, d1]
#layout Y (1, 96, 128, 128) [d0, d2, d3, d1]
#layout Z (1, 96, 128, 128) [d0, d2, d3, d1]
  )");
  TW_ASSERT_OK_AND_ASSIGN(
      const Schedule schedule,
      GeneratePreferred(Generators(workload).front(), workload,
                        *LoadSpec("cpu_x86_64_v4")));
  TW_ASSERT_OK_AND_ASSIGN(const BlockTree tree, Replay(workload, schedule));
  std::istringstream lines(tree.ToString());
  int found = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("prefetch 1") == std::string::npos) continue;
    ++found;
    EXPECT_EQ(line.find("0..1 "), std::string::npos) << line;
  }
  EXPECT_EQ(found, 1) << tree.ToString();
}

// The spaces themselves, of a product that is long enough for all.
TEST(ContractionDecisionsTest, AsksForAllThatIsDocumented) {
  std::set<std::string> asked;
  for (const auto& [name, workload] : Workloads()) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      RandomPolicy policy(seed);
      for (const Decision& decision : Draw(workload, policy).table)
        asked.insert(decision.name);
    }
  }
  EXPECT_THAT(asked, ::testing::UnorderedElementsAre(
                         "lanes", "rows", "dot", "reduce", "reduce.axis",
                         "reduce.block", "reduce.order", "tile", "task.rows",
                         "task.outer_rows", "task.vectors", "task.order",
                         "order", "pack.b", "pack.b.width", "pack.a", "unroll",
                         "prefetch", "edges"));
}

}  // namespace
}  // namespace tilewright::sketch
