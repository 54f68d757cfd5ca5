#include "sketch/rules/winograd_schedule.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "backends/spec/load_spec.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/rules/generator.h"
#include "sketch/testing/checked_decisions.h"
#include "sketch/testing/test_workloads.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/combiner.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/rewrite/winograd.h"
#include "tilegraph/text/text_form.h"

namespace tilewright::sketch {
namespace {

using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// The convolution with room for tiles of m, its result with channels in blocks.
Workload Marked(Workload workload, int m) {
  workload.graph =
      MarkWinograd(workload.graph,
                   m == 2 ? ComputeRole::kWinograd2 : ComputeRole::kWinograd4,
                   [&](const WinogradCase&) { return m; })
          .graph;
  const TensorId output = workload.graph.outputs()[0];
  workload.layouts[output] =
      Layout::BlockedLast(workload.graph.tensor(output).static_shape(), 1, 16);
  return workload;
}

// As the generator decides with these answers, else by rule.
absl::StatusOr<Schedule> ScheduleWith(const Answers& answers,
                                      const Workload& workload,
                                      const DeviceSpec& spec) {
  PreferredPolicy rest;
  TablePolicy table(answers, rest);
  Decider decider(table);
  absl::StatusOr<Schedule> schedule =
      Generate(Generators(workload).front(), workload, spec, decider);
  EXPECT_EQ(table.Rounded(), std::vector<std::string>());
  return schedule;
}

absl::StatusOr<Schedule> ScheduleOf(const Workload& workload, int m,
                                    const DeviceSpec& spec) {
  return ScheduleWith({{"winograd.m", absl::StrCat(m)}}, workload, spec);
}

void ExpectEqualResults(Workload workload, int m,
                        std::string_view spec_name = "cpu_x86_64_v4") {
  workload = Marked(std::move(workload), m);
  TW_ASSERT_OK_AND_ASSIGN(const Schedule schedule,
                          ScheduleOf(workload, m, *LoadSpec(spec_name)));
  EXPECT_EQ(schedule.generator, "winograd");
  EXPECT_EQ(schedule.instructions[1].primitive, Primitive::kWinograd);
  TW_ASSERT_OK_AND_ASSIGN(const BlockTree tree, Replay(workload, schedule));
  EXPECT_THAT(CheckTree(tree, workload, 5), IsOk()) << schedule.ToString();
  // The kernel's arguments are the workload's tensors, and filters computed
  // from them.
  for (const Buffer& buffer : tree.buffers) {
    if (buffer.level != MemLevel::kGlobal) continue;
    const Tensor& tensor = workload.graph.tensor(buffer.tensor);
    EXPECT_EQ(buffer.name, tensor.name);
    EXPECT_EQ(buffer.winograd, tensor.name == "W" ? m : 0);
  }
}

// A convolution of 3x3 whose data lies in memory with its padding.
Workload StoredConvolution(int64_t in, int64_t out, int64_t height,
                           int64_t width) {
  Workload workload;
  TensorGraph& graph = workload.graph;
  const TensorId x = graph.AddPlaceholder("X", DType::kFloat32,
                                          {1, in, height + 2, width + 2});
  auto filters = std::make_shared<HostTensor>(
      DType::kFloat32, std::vector<int64_t>{out, in, 3, 3});
  for (int64_t i = 0; i < filters->num_elements(); ++i)
    filters->Set(i, Scalar{static_cast<double>(i * 7 % 5 - 2), 0});
  const TensorId weights = graph.AddConstant("W", std::move(filters));
  Compute compute;
  compute.axes = {{"n", 1}, {"o", out}, {"h", height}, {"w", width}};
  compute.reduce_axes = {{"c", in}, {"i", 3}, {"j", 3}};
  compute.combiner = Combiner(Combiner::Kind::kSum, DType::kFloat32);
  const auto var = [](int id, const char* name) { return Expr::Var(id, name); };
  const Expr o = var(1, "o"), c = var(4, "c"), i = var(5, "i"), j = var(6, "j");
  compute.body = {Expr::Make(
      Op::kMul,
      {graph.Load(x, {var(0, "n"), c, var(2, "h") + i, var(3, "w") + j}),
       graph.Load(weights, {o, c, i, j})})};
  graph.SetOutputs(
      {graph.AddCompute("C", DType::kFloat32, std::move(compute), "conv")});
  return workload;
}

TEST(WinogradScheduleTest, BlocksOfTilesComputeTheConvolution) {
  ExpectEqualResults(ConvPadRelu(3, 16, 6, 6, 3, 1, 1), 2);
  ExpectEqualResults(ConvPadRelu(16, 24, 5, 7, 3, 1, 1), 2);
  ExpectEqualResults(ConvPadRelu(5, 40, 3, 33, 3, 1, 1), 2);
  ExpectEqualResults(ConvPadRelu(32, 16, 4, 6, 3, 1, 1), 2);
}

// With 16 registers several rows of tiles are in a register tile, and bands of
// seven rows are no multiple of it.
TEST(WinogradScheduleTest, BandsAreWholeRegisterTiles) {
  for (const char* spec : {"cpu_x86_64_v2", "cpu_x86_64_v3"}) {
    ExpectEqualResults(ConvPadRelu(2, 16, 28, 8, 3, 1, 1), 2, spec);
    ExpectEqualResults(ConvPadRelu(1, 16, 22, 12, 3, 1, 1), 2, spec);
  }
}

TEST(WinogradScheduleTest, EverySizeReplays) {
  Random random(1);
  for (int i = 0; i < 25; ++i) {
    const int64_t height = random.UniformInt(1, 60),
                  width = random.UniformInt(1, 60),
                  channels = 16 * random.UniformInt(1, 6);
    // F(4, 3) of whole tiles: paddings are stored (winograd_schedule.h).
    const Workload small =
        Marked(ConvPadRelu(16, channels, height, width, 3, 1, 1), 2);
    const Workload large =
        Marked(StoredConvolution(16, channels, 4 * (height / 4 + 1),
                                 4 * (width / 4 + 1)),
               4);
    for (const char* name :
         {"cpu_x86_64_v2", "cpu_x86_64_v3", "cpu_x86_64_v4"}) {
      const DeviceSpec spec = *LoadSpec(name);
      SCOPED_TRACE(absl::StrCat(name, " ", height, "x", width, ", ", channels));
      for (const Workload* workload : {&small, &large}) {
        TW_ASSERT_OK_AND_ASSIGN(
            const Schedule schedule,
            ScheduleOf(*workload, workload == &small ? 2 : 4, spec));
        EXPECT_THAT(Replay(*workload, schedule).status(), IsOk());
      }
    }
  }
}

TEST(WinogradScheduleTest, LargeTilesReadStoredData) {
  std::string weights = "1";
  for (int i = 1; i < 16 * 2 * 9; ++i)
    absl::StrAppend(&weights, ", ", i * 7 % 5 - 2);
  const std::string text = absl::Substitute(R"(
    X: f32[1, 2, 10, 6] = placeholder
    W: f32[16, 2, 3, 3] = constant { $0 }
    C: f32[1, 16, 8, 4] = compute (n: 1, o: 16, h: 8, w: 4)
      reduce (c: 2, i: 3, j: 3) sum:f32 {
        X[n, c, h + i, w + j] * W[o, c, i, j] } hint conv
    Y: f32[1, 16, 8, 4] = compute (n: 1, o: 16, h: 8, w: 4) {
        max(C[n, o, h, w], 0.0) }
    return Y
  )",
                                            weights);
  Workload workload;
  TW_ASSERT_OK_AND_ASSIGN(workload.graph, ParseText(text));
  ExpectEqualResults(std::move(workload), 4);
}

TEST(WinogradScheduleTest, RandomAnswersComputeTheConvolution) {
  const char* const specs[] = {"cpu_x86_64_v4", "cpu_x86_64_v3",
                               "cpu_x86_64_v2"};
  DecisionTally tally;
  for (uint64_t seed = 0; seed < 48 && !HasFailure(); ++seed) {
    Random random(seed);
    DeviceSpec spec = *LoadSpec(specs[seed % 3]);
    // With one core tasks may take many tiles.
    if (seed % 4 < 2) spec.mutable_unit()->set_cores(1);
    // Whole vectors of channels where they are short: the interpreter is slow.
    const int64_t in = random.UniformInt(1, seed % 3 == 2 ? 2 : 3) *
                       (seed % 3 == 2 ? spec.unit().vector_bytes() / 4 : 1),
                  out = 16 * random.UniformInt(1, 3),
                  height = random.UniformInt(1, 12),
                  width = random.UniformInt(1, 9);
    const bool large = seed % 2 == 0;
    const Workload workload =
        large ? Marked(StoredConvolution(in, out, 4 * (height / 4 + 1),
                                         4 * (width / 4 + 1)),
                       4)
              : Marked(ConvPadRelu(in, out, height, width, 3, 1, 1), 2);
    const Generator generator = Generators(workload).front();
    ASSERT_EQ(generator.name, "winograd");
    CheckDecisions(generator, workload, spec, seed, tally);
  }
  std::cout << tally.ToString();
  EXPECT_TRUE(tally.refusals.empty());
  EXPECT_THAT(tally.values["form"], ElementsAre("direct", "winograd"));
  EXPECT_THAT(tally.values["winograd.m"], ElementsAre("2", "4"));
  EXPECT_THAT(tally.values["pack"],
              ElementsAre("blocks", "panels", "plain", "positions"));
  EXPECT_THAT(tally.values["input.layout"], ElementsAre("blocks", "plain"));
  for (const char* name :
       {"tile", "task.rows", "task.outer_rows", "task.vectors", "block.vectors",
        "order", "unroll", "prefetch", "input.prefetch"}) {
    EXPECT_THAT(tally.values[name], SizeIs(Gt(1u))) << name;
  }
}

int64_t Tasks(const Schedule& schedule) {
  int64_t tasks = 1;
  for (const Instruction& instruction : schedule.instructions) {
    if (instruction.primitive != Primitive::kGroupTile) continue;
    for (const Factors& factors : instruction.factors) tasks *= factors[0];
  }
  return tasks;
}

// 7 x 7 tiles of F(4, 3) and four vectors of channels.
TEST(WinogradScheduleTest, ManyCoresGetSmallerBands) {
  const Workload workload = Marked(StoredConvolution(16, 64, 28, 28), 4);
  DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  const auto tasks = [&](int cores) {
    spec.mutable_unit()->set_cores(cores);
    const absl::StatusOr<Schedule> schedule = ScheduleOf(workload, 4, spec);
    EXPECT_THAT(schedule.status(), IsOk());
    EXPECT_THAT(Replay(workload, *schedule).status(), IsOk());
    return Tasks(*schedule);
  };
  EXPECT_EQ(tasks(1), 2);
  EXPECT_EQ(tasks(8), 8);
  EXPECT_GE(tasks(12), 24);
  EXPECT_EQ(tasks(64), 28);
}

// A vector of each plane is written at a time.
TEST(WinogradScheduleTest, PlanesOfTheInputFallIntoDifferentSets) {
  const DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  for (const int64_t extent : {8, 16, 32, 60, 64}) {
    const Workload workload = Marked(StoredConvolution(64, 64, 56, extent), 4);
    TW_ASSERT_OK_AND_ASSIGN(const Schedule schedule,
                            ScheduleOf(workload, 4, spec));
    TW_ASSERT_OK_AND_ASSIGN(const BlockTree tree, Replay(workload, schedule));
    const auto input = std::find_if(
        tree.buffers.begin(), tree.buffers.end(),
        [](const Buffer& buffer) { return buffer.name == "C.input"; });
    ASSERT_NE(input, tree.buffers.end());
    const std::vector<int64_t>& shape = input->layout.shape();
    const int64_t plane = input->layout.stride(1);
    EXPECT_EQ(plane % 32, 16) << "elements from plane to plane: odd lines";
    EXPECT_GE(plane, shape[3] * shape[4] * shape[5]);
    EXPECT_LE(plane, shape[3] * shape[4] * shape[5] + 16);
  }
}

// Filters of 512 channels fill no private cache, those of 16 do.
TEST(WinogradScheduleTest, FiltersFromFarArePrefetched) {
  const DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  const auto prefetch = [&](int64_t channels) {
    const absl::StatusOr<Schedule> schedule = ScheduleOf(
        Marked(StoredConvolution(channels, channels, 14, 14), 2), 2, spec);
    EXPECT_THAT(schedule.status(), IsOk());
    return AnswersOf(*schedule).at("prefetch");
  };
  EXPECT_EQ(prefetch(512), "32");
  EXPECT_EQ(prefetch(16), "auto");
}

// Each of two cores has its share: seven bands of all channels would leave one
// of them idle at the end.
TEST(WinogradScheduleTest, TasksTakeAllChannelsIfCoresStayBusy) {
  const Workload workload = Marked(StoredConvolution(16, 128, 28, 28), 2);
  DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  for (const auto& [cores, expected] :
       std::vector<std::pair<int, int64_t>>{{1, 7}, {2, 14}, {7, 14}}) {
    spec.mutable_unit()->set_cores(cores);
    TW_ASSERT_OK_AND_ASSIGN(const Schedule schedule,
                            ScheduleOf(workload, 2, spec));
    EXPECT_EQ(Tasks(schedule), expected) << cores << " cores";
  }
}

// One workload: the direct form is a decision beside the others.
TEST(WinogradScheduleTest, TheDirectFormIsAContraction) {
  Workload workload = Marked(ConvPadRelu(3, 16, 6, 6, 3, 1, 1), 2);
  const DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  TW_ASSERT_OK_AND_ASSIGN(const Schedule direct,
                          ScheduleWith({{"form", "direct"}}, workload, spec));
  const std::vector<Generator> generators = Generators(workload);
  EXPECT_EQ(generators[1].name, "contraction");
  TW_ASSERT_OK_AND_ASSIGN(const Schedule contraction,
                          GeneratePreferred(generators[1], workload, spec));
  EXPECT_EQ(direct.instructions, contraction.instructions);
  TW_ASSERT_OK_AND_ASSIGN(const BlockTree tree, Replay(workload, direct));
  EXPECT_THAT(CheckTree(tree, workload, 5), IsOk());
}

// By estimated time: weights of large tiles are read from memory.
TEST(WinogradScheduleTest, TilesAreChosenByTime) {
  const DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  const auto tiles = [&](int64_t channels, int64_t extent) {
    const Workload workload =
        Marked(StoredConvolution(channels, channels, extent, extent), 4);
    const absl::StatusOr<Schedule> schedule =
        GeneratePreferred(Generators(workload).front(), workload, spec);
    EXPECT_THAT(schedule.status(), IsOk());
    return AnswersOf(*schedule).at("winograd.m");
  };
  EXPECT_EQ(tiles(64, 56), "4");
  EXPECT_EQ(tiles(512, 4), "2");
}

TEST(WinogradScheduleTest, OtherContractionsAreNone) {
  const Workload workload = ConvPadRelu(3, 16, 6, 6, 3, 1, 1);
  EXPECT_FALSE(OffersWinograd(workload));
  EXPECT_TRUE(OffersWinograd(Marked(workload, 2)));
}

absl::Status Replayed(const Workload& workload, const ScheduleWriter& writer) {
  return Replay(workload, writer.written()).status();
}

TEST(WinogradScheduleTest, ThePrimitiveIsRefusedWhereItIsNone) {
  const Workload plain = StoredConvolution(2, 16, 6, 6),
                 marked = Marked(plain, 2);
  ScheduleWriter writer;
  const Handle block = writer.Block("C");
  ScheduleWriter good = writer, late = writer;
  good.Winograd(block, 2);
  EXPECT_THAT(Replayed(marked, good), IsOk());
  EXPECT_THAT(Replayed(plain, good),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("#1 winograd: C is no convolution that is "
                                 "marked for it")));
  good.Winograd(block, 2);
  EXPECT_THAT(Replayed(marked, good),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("only 'block' may stand before it")));
  for (const int64_t m : {-1, 0, 3, 4}) {
    ScheduleWriter other = writer;
    other.Winograd(block, m);
    EXPECT_THAT(Replayed(marked, other),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("tiles of that size")));
  }
  late.Annotate(late.Loop(block, "h"), "unroll");
  late.Winograd(block, 2);
  EXPECT_THAT(Replayed(marked, late),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("only 'block' may stand before it")));
}

}  // namespace
}  // namespace tilewright::sketch
