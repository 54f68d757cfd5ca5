#include "tilegraph/decision/policies.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/decision/table.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// A generator of this shape: the second space depends on the first decision,
// and a third is only asked for of packed data.
void Generate(Decider& decider, int64_t extent = 12) {
  const Decider::Scope scope(decider, "tile");
  const DecisionValue rows =
      decider.Decide("rows", Space::Split({extent, 2}), [&] {
        return DecisionValue{1, extent};
      });
  const int64_t copies = decider.DecideNumber(
      "copies", Space::Integers(1, rows[0]), [&] { return rows[0]; });
  if (decider.DecideWhether("packed", [&] { return copies > 1; })) {
    const Decider::Scope inner(decider, "pack");
    decider.Decide(
        "order", Space::Permutation({"n", "k"}),
        [] {
          return DecisionValue{1, 0};
        },
        Bits::kMayChange);
  }
}

std::string Tabulate(DecisionPolicy& policy, int64_t extent = 12) {
  Decider decider(policy);
  Generate(decider, extent);
  std::string text;
  for (const auto& [name, value] : AnswersOf(decider.decisions())) {
    text += name + " = " + value + "\n";
  }
  return text;
}

TEST(DeciderTest, ItsTableHoldsWhatWasDecidedUnderTheNamesOfScopes) {
  PreferredPolicy rules;
  Decider decider(rules);
  {
    const Decider::Scope scope(decider, "tile");
    EXPECT_EQ(
        decider.DecideNumber("rows", Space::Integers(1, 14), [] { return 6; }),
        6);
    const Decider::Scope inner(decider, "pack");
    EXPECT_TRUE(decider.DecideWhether(
        "late", [] { return true; }, Bits::kMayChange));
  }
  EXPECT_FALSE(decider.DecideWhether("late", [] { return false; }));
  const DecisionTable& table = decider.decisions();
  ASSERT_EQ(table.size(), 3);
  EXPECT_EQ(table[0].name, "tile.rows");
  EXPECT_EQ(table[0].value, DecisionValue{6});
  EXPECT_EQ(table[0].space.ToString(), "integers 1..14");
  EXPECT_EQ(table[0].bits, Bits::kSame);
  EXPECT_EQ(table[1].name, "tile.pack.late");
  EXPECT_EQ(table[1].bits, Bits::kMayChange);
  EXPECT_EQ(table[2].name, "late");
  EXPECT_THAT(AnswersOf(table),
              ElementsAre(Pair("late", "no"), Pair("tile.pack.late", "yes"),
                          Pair("tile.rows", "6")));
}

TEST(DeciderTest, WhatWasOnlyTriedLeavesTheTable) {
  PreferredPolicy rules;
  Decider decider(rules);
  const auto decide = [&](const char* name) {
    decider.DecideWhether(name, [] { return true; });
  };
  decide("first");
  {
    Decider::Trial trial(decider);
    decide("tried");
    {
      Decider::Trial inner(decider);
      decide("kept_in_vain");
      inner.Keep();
    }
  }
  {
    Decider::Trial trial(decider);
    decide("tried");  // again: it left the table
    trial.Keep();
  }
  EXPECT_THAT(AnswersOf(decider.decisions()),
              ElementsAre(Pair("first", "yes"), Pair("tried", "yes")));
}

TEST(DeciderDeathTest, TheRulesMayNotLeaveTheSpace) {
  PreferredPolicy rules;
  Decider decider(rules);
  const Decider::Scope scope(decider, "tile");
  EXPECT_DEATH(
      decider.DecideNumber("rows", Space::Integers(1, 14), [] { return 15; }),
      "decision tile.rows: \\(15\\) is no member of integers 1..14");
  decider.DecideWhether("late", [] { return true; });
  EXPECT_DEATH(decider.DecideWhether("late", [] { return true; }),
               "tile.late is decided twice");
  EXPECT_DEATH(decider.DecideWhether("a=b", [] { return true; }),
               "cannot be named 'tile.a=b'");
}

TEST(RandomPolicyTest, EqualSeedsGiveEqualTables) {
  std::set<std::string> tables;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomPolicy a(seed), b(seed);
    const std::string table = Tabulate(a);
    EXPECT_EQ(table, Tabulate(b));
    EXPECT_EQ(table, Tabulate(a)) << "a policy remembers nothing";
    tables.insert(table);
  }
  EXPECT_GT(tables.size(), 50);
}

TEST(RandomPolicyTest, AnAnswerDependsOnItsNameAndSpaceAlone) {
  const auto never = []() -> DecisionValue { return {}; };
  const Space space = Space::Integers(1, 1 << 30);
  RandomPolicy policy(7), fresh(7), other(8);
  const DecisionValue alone = fresh.Answer("b", space, never);
  const DecisionValue before = policy.Answer("a", space, never);
  EXPECT_EQ(policy.Answer("b", space, never), alone);
  EXPECT_NE(before, alone);
  EXPECT_NE(other.Answer("b", space, never), alone);
  EXPECT_NE(policy.Answer("b", Space::Integers(1, 1 << 29), never), alone);
}

TEST(TablePolicyTest, ATableGivesTheSameTableAgain) {
  PreferredPolicy rules;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    RandomPolicy random(seed);
    Decider first(random);
    Generate(first);
    TablePolicy again(AnswersOf(first.decisions()), rules);
    EXPECT_EQ(Tabulate(again), Tabulate(random));
    EXPECT_THAT(again.Rounded(), IsEmpty());
    EXPECT_THAT(again.Unused(), IsEmpty());
  }
}

TEST(TablePolicyTest, AnswersOutsideTheirSpaceAreRoundedAndSaidToBe) {
  PreferredPolicy rules;
  TablePolicy table({{"tile.rows", "8x14"},
                     {"tile.copies", "many"},
                     {"tile.packed", "no"},
                     {"tile.pack.order", "(n, k)"}},
                    rules);
  // 14 rows are kept, and 4 times 14 cover the extent 56.
  EXPECT_EQ(Tabulate(table, 56),
            "tile.copies = 4\n"
            "tile.packed = no\n"
            "tile.rows = 4x14\n");
  EXPECT_THAT(
      table.Rounded(),
      ElementsAre("tile.copies = many: 'many' is no integer (integers 1..4), "
                  "taken as 4",
                  "tile.rows = 8x14: outside split 56 in 2, tails, taken as "
                  "4x14"));
  EXPECT_THAT(table.Unused(), ElementsAre("tile.pack.order"));
}

TEST(TablePolicyTest, WhatItDoesNotHoldAnotherPolicyAnswers) {
  RandomPolicy random(3);
  TablePolicy nothing({}, random);
  EXPECT_EQ(Tabulate(nothing), Tabulate(random));
}

// All tables of Generate, by loops.
std::vector<std::string> AllTables(int64_t extent) {
  std::vector<std::string> tables;
  for (int64_t inner = 1; inner <= extent; ++inner) {
    const int64_t outer = (extent + inner - 1) / inner;
    for (int64_t copies = 1; copies <= outer; ++copies) {
      const std::string head = "tile.copies = " + std::to_string(copies) + "\n";
      const std::string tail = "tile.rows = " + std::to_string(outer) + "x" +
                               std::to_string(inner) + "\n";
      tables.push_back(head + "tile.packed = no\n" + tail);
      for (const char* order : {"(n, k)", "(k, n)"}) {
        tables.push_back(head + "tile.pack.order = " + order +
                         "\ntile.packed = yes\n" + tail);
      }
    }
  }
  return tables;
}

TEST(EnumeratingPolicyTest, ItGivesEveryTableOnceInAFixedOrder) {
  EnumeratingPolicy all;
  std::vector<std::string> tables;
  do {
    tables.push_back(Tabulate(all, 12));
  } while (all.Next());
  EXPECT_EQ(tables, AllTables(12));
  // After the last it begins again.
  EXPECT_EQ(Tabulate(all, 12), tables.front());
}

TEST(EnumeratingPolicyTest, AskedAgainInOneRunItAnswersTheSame) {
  const auto never = []() -> DecisionValue { return {}; };
  const Space few = Space::Integers(1, 2), more = Space::Integers(1, 3);
  EnumeratingPolicy all;
  int runs = 0;
  do {
    const DecisionValue a = all.Answer("a", few, never);
    const DecisionValue b = all.Answer("a", more, never);  // another question
    all.Answer("b", few, never);
    EXPECT_EQ(all.Answer("a", few, never), a);
    EXPECT_EQ(all.Answer("a", more, never), b);
    ++runs;
  } while (all.Next());
  EXPECT_EQ(runs, 2 * 3 * 2);
}

// Knuth: the mean of the estimates of random runs is the number of tables.
TEST(EstimateTest, EstimatesOfRandomRunsHaveTheNumberOfTablesAsMean) {
  const double count = static_cast<double>(AllTables(24).size());
  double sum = 0;
  constexpr int kRuns = 20000;
  for (int seed = 0; seed < kRuns; ++seed) {
    RandomPolicy random(seed);
    Decider decider(random);
    Generate(decider, 24);
    sum += EstimateTables(decider.decisions());
  }
  EXPECT_NEAR(sum / kRuns, count, 0.03 * count);
}

}  // namespace
}  // namespace tilewright
