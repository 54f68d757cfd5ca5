#include "sketch/testing/random_schedule.h"

#include <cstdlib>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ceil_div.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/tree/block_tree_verifier.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/testing/random_graph.h"

namespace tilewright::sketch {
namespace {

// More with TILEWRIGHT_SEEDS.
uint64_t Seeds(uint64_t by_default) {
  const char* text = std::getenv("TILEWRIGHT_SEEDS");
  return text == nullptr ? by_default : std::strtoull(text, nullptr, 10);
}

TEST(RandomScheduleTest, ReplaysAndComputesWhatTheGraphMeans) {
  std::set<std::string> used;
  for (uint64_t seed = 0; seed < Seeds(200); ++seed) {
    Workload workload = DrawWorkload(seed);
    TW_ASSERT_OK_AND_ASSIGN(Schedule schedule, RandomSchedule(workload, seed));
    for (const Instruction& i : schedule.instructions)
      used.emplace(Name(i.primitive));
    absl::StatusOr<BlockTree> tree = Replay(workload, schedule);
    ASSERT_THAT(tree.status(), IsOk()) << "seed " << seed << "\n"
                                       << schedule.ToString();
    ASSERT_THAT(VerifyBlockTree(*tree), IsOk())
        << "seed " << seed << "\n"
        << schedule.ToString() << tree->ToString();
    ASSERT_THAT(CheckTree(*tree, workload, seed), IsOk())
        << "seed " << seed << "\n"
        << schedule.ToString() << tree->ToString();
  }
  // Everything but tensorize, whose intrinsics are declared elsewhere.
  EXPECT_EQ(used.size(), 18u) << ::testing::PrintToString(used);
}

TEST(RandomScheduleTest, ReplaysOnEveryKindOfGraph) {
  for (uint64_t seed = 0; seed < Seeds(200); ++seed) {
    Workload workload;
    workload.graph = RandomGraph(seed);
    // Several outputs seldom have a common tiling.
    if (seed % 4 != 0)
      workload.graph =
          Extract(workload.graph, {workload.graph.outputs().back()});
    TW_ASSERT_OK_AND_ASSIGN(Schedule schedule, RandomSchedule(workload, seed));
    absl::StatusOr<BlockTree> tree = Replay(workload, schedule);
    ASSERT_THAT(tree.status(), IsOk()) << "seed " << seed << "\n"
                                       << schedule.ToString();
    ASSERT_THAT(VerifyBlockTree(*tree), IsOk())
        << "seed " << seed << "\n"
        << schedule.ToString() << tree->ToString();
    ASSERT_THAT(CheckTree(*tree, workload, seed), IsOk())
        << "seed " << seed << "\n"
        << schedule.ToString() << tree->ToString();
  }
}

// One thing in a good schedule is changed.
Schedule Mutate(Schedule schedule, Random& random) {
  std::vector<Instruction>& instructions = schedule.instructions;
  if (instructions.empty()) return schedule;
  Instruction& instruction = instructions[random.Index(instructions.size())];
  size_t place = static_cast<size_t>(&instruction - instructions.data());
  switch (random.UniformInt(0, 4)) {
    case 0:
      if (!instruction.operands.empty()) {
        Handle& operand =
            instruction.operands[random.Index(instruction.operands.size())];
        operand = static_cast<Handle>(random.UniformInt(-1, operand + 3));
      }
      break;
    case 1:
      for (Factors& factors : instruction.factors) {
        const int64_t covered = std::accumulate(
            factors.begin(), factors.end(), int64_t{1}, std::multiplies<>());
        factors.assign(factors.size(), 1);
        factors.back() = random.UniformInt(1, covered);
        factors[0] = CeilDiv(covered, factors.back());
      }
      break;
    case 2:
      if (instruction.results.empty())
        instructions.erase(instructions.begin() +
                           static_cast<std::ptrdiff_t>(place));
      break;
    case 3: {
      size_t other = random.Index(instructions.size());
      if (instruction.results.empty() && instructions[other].results.empty())
        std::swap(instruction, instructions[other]);
      break;
    }
    default:
      if (instruction.results.empty())
        instructions.insert(
            instructions.begin() + static_cast<std::ptrdiff_t>(place),
            Instruction(instruction));
      break;
  }
  return schedule;
}

TEST(RandomScheduleTest, MutantsAreRefusedOrCorrect) {
  int accepted = 0, refused = 0;
  for (uint64_t seed = 0; seed < Seeds(40); ++seed) {
    Workload workload;
    workload.graph = RandomGraph(seed);
    workload.graph = Extract(workload.graph, {workload.graph.outputs().back()});
    TW_ASSERT_OK_AND_ASSIGN(Schedule schedule, RandomSchedule(workload, seed));
    Random random(seed);
    for (int i = 0; i < 8; ++i) {
      Schedule mutant = Mutate(schedule, random);
      absl::StatusOr<BlockTree> tree = Replay(workload, mutant);
      if (!tree.ok()) {
        ++refused;
        EXPECT_THAT(tree.status().code(),
                    ::testing::AnyOf(absl::StatusCode::kInvalidArgument,
                                     absl::StatusCode::kUnimplemented));
        continue;
      }
      ++accepted;
      ASSERT_THAT(VerifyBlockTree(*tree), IsOk())
          << "seed " << seed << "\n"
          << mutant.ToString() << tree->ToString();
      ASSERT_THAT(CheckTree(*tree, workload, seed), IsOk())
          << "seed " << seed << "\n"
          << mutant.ToString() << tree->ToString();
    }
  }
  EXPECT_GT(accepted, 50);
  EXPECT_GT(refused, 50);
}

TEST(RandomScheduleTest, SameSeedSameSchedule) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Workload workload = DrawWorkload(seed);
    TW_ASSERT_OK_AND_ASSIGN(Schedule a, RandomSchedule(workload, seed));
    TW_ASSERT_OK_AND_ASSIGN(Schedule b, RandomSchedule(workload, seed));
    EXPECT_EQ(a.ToString(), b.ToString());
  }
}

}  // namespace
}  // namespace tilewright::sketch
