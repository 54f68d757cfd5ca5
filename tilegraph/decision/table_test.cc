#include "tilegraph/decision/table.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/decision/space.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Space RegisterTile() {
  return Space::Composite(
      {{"vectors", Space::Integers(1, 8)}, {"rows", Space::Integers(1, 16)}},
      [](const DecisionValue& v) { return (v[0] + 1) * v[1] + v[0] <= 16; });
}

DecisionTable Convolution(uint64_t seed) {
  RandomPolicy random(seed);
  Decider decider(random);
  const auto rules = []() -> DecisionValue { return {}; };
  decider.Decide("algorithm", Space::OneOf({"direct", "winograd"}), rules,
                 Bits::kMayChange);
  decider.Decide("tile", RegisterTile(), rules);
  const DecisionValue rows =
      decider.Decide("rows", Space::Split({56, 2, 14}), rules);
  decider.Decide("bands", Space::Integers(1, rows[0]), rules);
  decider.Decide("order", Space::Permutation({"n", "k", "m"}), rules);
  decider.Decide("fixed", Space::Integers(4, 4), rules);
  return decider.decisions();
}

DecisionTable Reread(const std::string& text) {
  PreferredPolicy rules;
  const absl::StatusOr<Answers> answers = ParseAnswers(text);
  EXPECT_THAT(answers, IsOk());
  TablePolicy table(*answers, rules);
  Decider decider(table);
  const auto last = [] { return DecisionValue{4}; };  // of `fixed`
  decider.Decide("algorithm", Space::OneOf({"direct", "winograd"}), last,
                 Bits::kMayChange);
  decider.Decide("tile", RegisterTile(), last);
  const DecisionValue rows =
      decider.Decide("rows", Space::Split({56, 2, 14}), last);
  decider.Decide("bands", Space::Integers(1, rows[0]), last);
  decider.Decide("order", Space::Permutation({"n", "k", "m"}), last);
  decider.Decide("fixed", Space::Integers(4, 4), last);
  EXPECT_THAT(table.Rounded(), IsEmpty());
  return decider.decisions();
}

TEST(DecisionTableTest, ItReadsAsOneLinePerDecision) {
  const DecisionTable table = {
      {"algorithm",
       Space::OneOf({"direct", "winograd"}),
       {1},
       Bits::kMayChange},
      {"fixed", Space::Integers(4, 4), {4}},
      {"tile", RegisterTile(), {2, 4}},
      {"rows", Space::Integers(1, 31), {14}},
      {"huge", Space::Integers(INT64_MIN, INT64_MAX), {0}}};
  EXPECT_EQ(ToString(table),
            "algorithm = winograd  # one of direct, winograd, 2 values, may "
            "change bits\n"
            "tile = vectors 2, rows 4  # {vectors: integers 1..8; rows: "
            "integers 1..16} where admitted, 19 values\n"
            "rows = 14  # integers 1..31, 31 values\n"
            "huge = 0  # integers -9223372036854775808..9223372036854775807, "
            "1.84467e+19 values\n");
}

TEST(DecisionTableTest, ReadBackItGivesTheSameTable) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const DecisionTable table = Convolution(seed);
    const DecisionTable again = Reread(ToString(table));
    EXPECT_EQ(ToString(again), ToString(table));
    EXPECT_EQ(AnswersOf(again), AnswersOf(table));
  }
}

TEST(ParseAnswersTest, CommentsAndBlanksAreLeftOut) {
  EXPECT_THAT(
      ParseAnswers("# of a person\n\n tile.rows=14 # integers\r\n"
                   "order = (n, k)\ncopy = a=b"),
      IsOkAndHolds(ElementsAre(Pair("copy", "a=b"), Pair("order", "(n, k)"),
                               Pair("tile.rows", "14"))));
  EXPECT_THAT(ParseAnswers(""), IsOkAndHolds(IsEmpty()));
}

TEST(ParseAnswersTest, OtherLinesAreRefusedWithTheirNumber) {
  const auto refused = [](const char* message) {
    return StatusIs(absl::StatusCode::kInvalidArgument, message);
  };
  EXPECT_THAT(ParseAnswers("a = 1\nrows 14\n"),
              refused("line 2: 'rows 14' is no NAME = VALUE"));
  EXPECT_THAT(ParseAnswers("a =  # 1"), refused("line 1: 'a ='"));
  EXPECT_THAT(ParseAnswers("= 1"), refused("line 1: '= 1'"));
  EXPECT_THAT(ParseAnswers("a b = 1"), refused("line 1: 'a b = 1'"));
  EXPECT_THAT(ParseAnswers("a = 1\n\na = 1"),
              refused("line 3: a is decided a second time"));
}

// Damaged text is refused or read; what is read is refused or near a member.
TEST(ParseAnswersTest, DamagedTextDoesNoHarm) {
  Random random(1);
  int read = 0, refused = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    const DecisionTable table = Convolution(trial % 10);
    std::string text = ToString(table);
    for (int64_t edits = random.UniformInt(1, 6); edits > 0; --edits) {
      const size_t at = random.Index(text.size());
      switch (random.Index(4)) {
        case 0:
          text[at] = static_cast<char>(random.UniformInt(0, 255));
          break;
        case 1:
          text[at] = " \n=#,(){}x-09"[random.Index(13)];
          break;
        case 2:
          text.erase(at, random.Index(8) + 1);
          break;
        case 3:
          text.insert(at, text.substr(random.Index(text.size()), 12));
          break;
      }
      if (text.empty()) text = "\n";
    }
    const absl::StatusOr<Answers> answers = ParseAnswers(text);
    if (!answers.ok()) continue;
    for (const Decision& entry : table) {
      const auto it = answers->find(entry.name);
      if (it == answers->end()) continue;
      const absl::StatusOr<DecisionValue> value = entry.space.Parse(it->second);
      ++(value.ok() ? read : refused);
      if (!value.ok()) continue;
      EXPECT_TRUE(entry.space.Contains(entry.space.Nearest(*value)));
    }
  }
  EXPECT_GT(read, 1000);
  EXPECT_GT(refused, 100);
}

int Changes(const Answers& from, const Answers& to) {
  int changes = 0;
  for (const auto& [name, text] : from) changes += to.at(name) != text;
  return changes;
}

TEST(MutateTest, AsManyEntriesChangeAndAllStayMembers) {
  Random random(2);
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const DecisionTable table = Convolution(seed);
    int changeable = 0;
    for (const Decision& entry : table) {
      changeable += !entry.space.Neighbours(entry.value).empty();
    }
    for (const int changes : {0, 1, 2, 100}) {
      const Answers mutated = Mutate(table, changes, random);
      EXPECT_EQ(mutated.size(), table.size());
      EXPECT_EQ(Changes(AnswersOf(table), mutated),
                std::min(changes, changeable));
      for (const Decision& entry : table) {
        TW_ASSERT_OK_AND_ASSIGN(const DecisionValue value,
                                entry.space.Parse(mutated.at(entry.name)));
        EXPECT_TRUE(entry.space.Contains(value));
      }
    }
  }
}

TEST(MutateTest, MostChangesAreNearAndSomeAreAnywhere) {
  const Space space = Space::Integers(1, 1000);
  const DecisionTable table = {{"rows", space, {100}}};
  Random random(3);
  int near = 0;
  std::set<std::string> far;
  for (int i = 0; i < 1000; ++i) {
    const std::string text = Mutate(table, 1, random).at("rows");
    if (text == "99" || text == "101" || text == "50" || text == "200") {
      ++near;
    } else {
      far.insert(text);
    }
  }
  EXPECT_NEAR(near, 750, 50);
  EXPECT_GT(far.size(), 200);
}

TEST(CrossTest, EachEntryComesFromOneParent) {
  DecisionTable a = Convolution(4), b = Convolution(5);
  a.push_back({"only_a", Space::Integers(1, 2), {1}});
  b.push_back({"only_b", Space::Integers(1, 2), {2}});
  const Answers from_a = AnswersOf(a), from_b = AnswersOf(b);
  Random random(4);
  std::set<Answers> children;
  for (int i = 0; i < 200; ++i) {
    const Answers child = Cross(a, b, random);
    EXPECT_EQ(child.size(), a.size() + 1);
    for (const auto& [name, text] : child) {
      EXPECT_TRUE((from_a.count(name) && from_a.at(name) == text) ||
                  (from_b.count(name) && from_b.at(name) == text))
          << name;
    }
    children.insert(child);
  }
  // Every mixture of the entries in which the parents differ.
  int differing = 0;
  for (const auto& [name, text] : from_a) {
    differing += from_b.count(name) && from_b.at(name) != text;
  }
  ASSERT_GE(differing, 3);
  EXPECT_EQ(children.size(), size_t{1} << differing);
}

TEST(EstimateTest, ItIsTheProductOfTheSizes) {
  const DecisionTable table = {{"a", Space::Integers(1, 7), {1}},
                               {"b", Space::OneOf({"x", "y", "z"}), {0}}};
  EXPECT_EQ(EstimateTables(table), 21);
  EXPECT_EQ(EstimateTables({}), 1);
}

}  // namespace
}  // namespace tilewright
