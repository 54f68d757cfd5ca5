#include "sketch/fused/stage_decisions.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/spec/load_spec.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "base/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/fused/fused_schedule.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/generator.h"
#include "sketch/testing/fused_outputs.h"
#include "sketch/testing/fused_windows.h"
#include "sketch/testing/fused_workloads.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/tree/block_tree.h"
#include "sketch/tree/block_tree_interpreter.h"
#include "sketch/tree/block_tree_verifier.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/decision/table.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright::sketch {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kCores = 1;

DeviceSpec Spec() {
  DeviceSpec spec = *LoadSpec("cpu_x86_64_v3");
  spec.mutable_unit()->set_cores(kCores);
  return spec;
}

FusedWorkload InTiles(FusedWorkload fused, std::vector<int64_t> tile,
                      int64_t last_step = 0) {
  fused.plan.tile = std::move(tile);
  fused.plan.stages.back().reduce_step = last_step;
  return fused;
}

// Every kind of stage, few elements each.
std::vector<FusedWorkload> Samples() {
  return {
      InTiles(Mlp(20, {9, 24, 17, 12}), {7, 12}),
      InTiles(Mlp(20, {5, 40, 33}), {7, 16}, 24),
      InTiles(TokenMlp(12, 10, 24), {4, 10}),
      InTiles(GiveOut(AddNorm(12, 9, 16, 10), {0}), {4, 10}),
      InTiles(Attention(2, 10, 24, 8), {1, 4, 8}),
      InTiles(Attention(2, 9, 24, 8, true), {2, 4, 8}, 8),
      InTiles(SoftmaxProduct(8, 20, 16), {4, 16}, 8),
      InTiles(Pointwise(5, 6, {16, 48, 32}), {1, 16, 2, 6}),
      InTiles(InvertedResidual(8, 20, 8, 9, 1), {1, 8, 2, 9}),
      InTiles(InvertedResidual(5, 17, 8, 8, 2, WindowLayout::kLast),
              {1, 8, 1, 4}),
      InTiles(GiveOut(WindowChain(8, 6, 8,
                                  {{WindowStep::Kind::kConv, 16, 3, 1, 1, 1},
                                   {WindowStep::Kind::kMaxPool, 0, 2, 2}},
                                  WindowLayout::kPlain),
                      {0}),
              {1, 16, 1, 4}),
  };
}

// Returns the role of a decision: the part of its name after the last dot.
std::string RoleOf(const std::string& name) {
  return name.substr(name.rfind('.') + 1);
}

// Numbers of a message left out.
std::string Kind(std::string_view message) {
  std::string kind;
  for (const char c : message) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
      kind += c;
    } else if (kind.empty() || kind.back() != '#') {
      kind += '#';
    }
  }
  return kind;
}

int64_t Tasks(const BlockTree& tree) {
  int64_t tasks = 1;
  const std::vector<NodePtr>* nodes = &tree.roots;
  while (nodes->size() == 1 && (*nodes)[0]->loop &&
         (*nodes)[0]->loop->kind == LoopKind::kTask) {
    tasks *= (*nodes)[0]->loop->extent;
    nodes = &(*nodes)[0]->loop->body;
  }
  return tasks;
}

int64_t TasksOf(const FusedWorkload& fused, const Schedule& schedule) {
  const absl::StatusOr<BlockTree> tree = Replay(fused.workload, schedule);
  EXPECT_THAT(tree.status(), IsOk());
  return tree.ok() ? Tasks(*tree) : 0;
}

// A drawn table either is refused with a reason or gives a right tree, and is
// the table that gives it again.
TEST(StageDecisionsTest, DrawnTablesAreRightOrRefused) {
  const DeviceSpec spec = Spec();
  std::map<std::string, int> refused;
  std::map<std::string, std::set<std::string>> options, taken;  // by role
  int accepted = 0, drawn = 0;
  for (const FusedWorkload& fused : Samples()) {
    const Generator generator = FusedGenerator(fused.plan);
    TW_ASSERT_OK_AND_ASSIGN(const Schedule preferred,
                            GeneratePreferred(generator, fused.workload, spec));
    const int64_t least =
        std::min(TasksOf(fused, preferred), int64_t{4} * kCores);
    for (uint64_t seed = 0; seed < 12; ++seed) {
      RandomPolicy random(seed);
      Decider decider(random);
      ++drawn;
      const absl::StatusOr<Schedule> schedule =
          Generate(generator, fused.workload, spec, decider);
      const std::string what =
          absl::StrCat("seed ", seed, "\n", fused.workload.Text(),
                       ToString(decider.decisions()));
      absl::Status status = schedule.status();
      if (status.ok()) {
        const absl::StatusOr<BlockTree> tree =
            Replay(fused.workload, *schedule);
        status = tree.status();
        if (status.ok()) {
          ++accepted;
          ASSERT_THAT(VerifyBlockTree(*tree), IsOk()) << what;
          ASSERT_THAT(CheckTree(*tree, fused.workload, seed), IsOk())
              << what << tree->ToString();
          ASSERT_GE(Tasks(*tree), least) << what;
        }
      }
      if (!status.ok()) {
        ASSERT_EQ(status.code(), absl::StatusCode::kInvalidArgument)
            << status << "\n"
            << what;
        ++refused[Kind(ToStd(status.message()))];
        continue;
      }
      for (const Decision& decision : decider.decisions()) {
        if (decision.space.kind() != Space::Kind::kOneOf) continue;
        const std::string role = RoleOf(decision.name);
        options[role].insert(decision.space.options().begin(),
                             decision.space.options().end());
        taken[role].insert(decision.space.Print(decision.value));
      }
      PreferredPolicy rest;
      TablePolicy table(AnswersOf(decider.decisions()), rest);
      Decider again(table);
      const absl::StatusOr<Schedule> same =
          Generate(generator, fused.workload, spec, again);
      ASSERT_THAT(same.status(), IsOk()) << what;
      EXPECT_EQ(*same, *schedule) << what;
      EXPECT_THAT(table.Rounded(), IsEmpty()) << what;
      EXPECT_THAT(table.Unused(), IsEmpty()) << what;
    }
  }
  std::cout << accepted << " of " << drawn << " tables accepted\n";
  for (const auto& [why, count] : refused)
    std::cout << "refused " << count << " times: " << why << "\n";
  EXPECT_GT(accepted, drawn / 2);
  // Axes are named by their place; decision_coverage_test draws enough of them.
  for (const char* role : {"at", "roll", "online", "block"}) {
    EXPECT_EQ(taken[role], options[role]) << role;
    EXPECT_GT(options[role].size(), 1u) << role;
  }
}

// Draws what changes no bits of a tree, and prefers the rest.
class SameBitsPolicy : public DecisionPolicy {
 public:
  explicit SameBitsPolicy(uint64_t seed) : random_(seed) {}
  DecisionValue Answer(const std::string& name, const Space& space,
                       Prefer preferred) override {
    const std::string role = RoleOf(name);
    const bool same =
        name == "task.axis" || name == "task.steps" || role == "roll";
    return same ? random_.Answer(name, space, preferred) : preferred();
  }

 private:
  RandomPolicy random_;
};

std::map<TensorId, HostTensor> ResultsOf(const FusedWorkload& fused,
                                         const Schedule& schedule) {
  Random random(7);
  std::map<TensorId, HostTensor> inputs;
  for (const Tensor& tensor : fused.workload.graph.tensors()) {
    if (tensor.kind != TensorKind::kPlaceholder) continue;
    HostTensor value(tensor.dtype, tensor.static_shape());
    for (int64_t i = 0; i < value.num_elements(); ++i)
      value.Set(i, Scalar{random.Uniform(-1, 1), 0});
    inputs.emplace(tensor.id, std::move(value));
  }
  const absl::StatusOr<BlockTree> tree = Replay(fused.workload, schedule);
  EXPECT_THAT(tree.status(), IsOk());
  absl::StatusOr<std::map<TensorId, HostTensor>> outputs =
      RunBlockTree(*tree, fused.workload, inputs, {});
  EXPECT_THAT(outputs.status(), IsOk());
  return *std::move(outputs);
}

TEST(StageDecisionsTest, StepsOfATaskAndRollingKeepAllBits) {
  const DeviceSpec spec = Spec();
  int others = 0;
  for (const FusedWorkload& fused : Samples()) {
    const Generator generator = FusedGenerator(fused.plan);
    TW_ASSERT_OK_AND_ASSIGN(const Schedule preferred,
                            GeneratePreferred(generator, fused.workload, spec));
    const std::map<TensorId, HostTensor> expected = ResultsOf(fused, preferred);
    for (uint64_t seed = 0; seed < 4; ++seed) {
      SameBitsPolicy policy(seed);
      Decider decider(policy);
      const absl::StatusOr<Schedule> schedule =
          Generate(generator, fused.workload, spec, decider);
      if (!schedule.ok() || *schedule == preferred ||
          !Replay(fused.workload, *schedule).ok())
        continue;
      ++others;
      for (const auto& [id, value] : ResultsOf(fused, *schedule)) {
        for (int64_t i = 0; i < value.num_elements(); ++i)
          ASSERT_EQ(value.Get(i).f, expected.at(id).Get(i).f)
              << seed << "\n"
              << fused.workload.Text() << schedule->ToString();
      }
    }
  }
  EXPECT_GT(others, 10);
}

TEST(StageDecisionsTest, WishesAreNotNeeded) {
  for (const FusedWorkload& fused : Samples()) {
    TW_ASSERT_OK_AND_ASSIGN(
        const Schedule schedule,
        GeneratePreferred(FusedGenerator({}), fused.workload, Spec()));
    TW_ASSERT_OK_AND_ASSIGN(const BlockTree tree,
                            Replay(fused.workload, schedule));
    EXPECT_THAT(CheckTree(tree, fused.workload, 3), IsOk());
  }
}

// As the range that dynamic quantization divides by.
TEST(StageDecisionsTest, AScalarBetweenStagesHasNoOrder) {
  TW_ASSERT_OK_AND_ASSIGN(Workload workload, ParseWorkload(R"(
    X: f32[33] = placeholder
    S: f32[] = compute () reduce (i: 33) sum:f32 { X[i] }
    Y: f32[33] = compute (i: 33) { X[i] * S[] }
    return Y)"));
  workload.stages = {{1}, {2}};
  TW_ASSERT_OK_AND_ASSIGN(
      const Schedule schedule,
      GeneratePreferred(FusedGenerator({}), workload, Spec()));
  TW_ASSERT_OK_AND_ASSIGN(const BlockTree tree, Replay(workload, schedule));
  EXPECT_THAT(CheckTree(tree, workload, 3), IsOk());
}

// Sums of whole rows leave the group: tasks that share rows would compute them
// twice.
TEST(StageDecisionsTest, NoAnswerCutsWhatAnotherOutputNeedsWhole) {
  const auto tiles = [](const FusedWorkload& fused) {
    PreferredPolicy policy;
    Decider decider(policy);
    EXPECT_THAT(
        Generate(FusedGenerator(fused.plan), fused.workload, Spec(), decider)
            .status(),
        IsOk());
    std::map<std::string, double> sizes;
    for (const Decision& decision : decider.decisions())
      sizes[decision.name] = decision.space.size();
    return std::make_pair(sizes["tile.d0"], sizes["tile.d1"]);
  };
  const FusedWorkload fused = InTiles(AddNorm(12, 9, 16, 10), {4, 10});
  EXPECT_GT(tiles(fused).second, 1);
  const auto [rows, columns] = tiles(GiveOut(fused, {0}));
  EXPECT_GT(rows, 1);
  EXPECT_EQ(columns, 1);
}

// Roles are the names that a person may write into a file.
TEST(StageDecisionsTest, AnswersHaveRoles) {
  const FusedWorkload fused =
      InTiles(Attention(2, 9, 24, 8, true), {2, 4, 8}, 8);
  PreferredPolicy policy;
  Decider decider(policy);
  ASSERT_THAT(
      Generate(FusedGenerator(fused.plan), fused.workload, Spec(), decider)
          .status(),
      IsOk());
  const std::string text = ToString(decider.decisions());
  for (const char* line :
       {"tile.d1 = 4 ", "t8.reduce.step = 8 ", "t2.at = t8 ",
        "t7.online = rolling ", "t2.scratch.order = (d0, d1, d2) ",
        "t2.scratch.block = none "})
    EXPECT_THAT(text, HasSubstr(line));
}

// Two results leave the group; the first is read again in the task.
TEST(StageDecisionsTest, WhatTheLastStageStoresMayBeStreamed) {
  const FusedWorkload fused = GiveOut(Mlp(3000, {2, 2, 3}), {0});
  const TensorId last = fused.workload.graph.outputs().back();
  const std::string name =
      absl::StrCat(fused.workload.graph.tensor(last).name, ".stream");
  for (const char* answer : {"auto", "no", "yes"}) {
    TW_ASSERT_OK_AND_ASSIGN(
        const Schedule schedule,
        GenerateWith(FusedGenerator(fused.plan), fused.workload, Spec(),
                     {{name, answer}}));
    EXPECT_EQ(AnswersOf(schedule)[name], answer);
    TW_ASSERT_OK_AND_ASSIGN(const BlockTree tree,
                            Replay(fused.workload, schedule));
    for (const Buffer& buffer : tree.buffers) {
      const std::optional<bool> streamed =
          buffer.tensor == last && std::string(answer) != "auto"
              ? std::optional<bool>(std::string(answer) == "yes")
              : std::nullopt;
      EXPECT_EQ(buffer.streamed, streamed) << buffer.name;
    }
  }
  const FusedWorkload small = Mlp(8, {8, 8, 8});
  TW_ASSERT_OK_AND_ASSIGN(
      const Schedule schedule,
      GeneratePreferred(FusedGenerator(small.plan), small.workload, Spec()));
  for (const NamedDecision& decision : schedule.decisions)
    EXPECT_NE(RoleOf(decision.name), "stream");
}

TEST(StageDecisionsTest, WishesOfOtherStagesAreRefused) {
  FusedWorkload fused = Mlp(8, {8, 8, 8});
  fused.plan.stages.pop_back();
  EXPECT_THAT(
      FusedSchedule(fused.workload, Spec(), fused.plan).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, "wishes for 1 stages"));
  fused = Mlp(8, {8, 8, 8});
  std::swap(fused.workload.stages[0], fused.workload.stages[1]);
  EXPECT_THAT(FusedSchedule(fused.workload, Spec(), fused.plan).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "of a later stage"));
}

}  // namespace
}  // namespace tilewright::sketch
