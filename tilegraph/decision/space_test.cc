#include "tilegraph/decision/space.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr size_t kAll = std::numeric_limits<size_t>::max();

// The space of register tiles: both factors, within 16 registers.
Space RegisterTile() {
  return Space::Composite(
      {{"vectors", Space::Integers(1, 8)}, {"rows", Space::Integers(1, 16)}},
      [](const DecisionValue& v) { return (v[0] + 1) * v[1] + v[0] <= 16; });
}

Space Nested() {
  return Space::Composite({{"tile", RegisterTile()},
                           {"order", Space::Permutation({"n", "tile", "rows"})},
                           {"copy", Space::OneOf({"packed", "in_place(0)"})}});
}

// Every kind, small enough to list all values.
std::vector<Space> SmallSpaces() {
  std::vector<Space> spaces = {
      Space::OneOf({"only"}),
      Space::OneOf({"direct", "packed", "a+b=c*(2)"}),
      Space::Integers(1, 14),
      Space::Integers(-3, 5),
      Space::Integers(7, 7),
      Space::Permutation({"n"}),
      Space::Permutation({"n", "k", "m", "c"}),
      RegisterTile(),
      Nested(),
      Space::Composite(
          {{"tile", Space::Split({12, 3})}, {"unroll", Space::Integers(0, 2)}}),
      Space::Composite(
          {{"tile", Space::Split({30, 2})}, {"rows", Space::Integers(1, 4)}},
          [](const DecisionValue& v) { return v[1] * v[2] == 12; }),
  };
  for (const int64_t extent : {1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 33, 56}) {
    for (const int64_t cap : {0, 1, 4, 14, 100}) {
      for (const bool tails : {false, true}) {
        for (const int parts : {2, 3, 4}) {
          if (parts == 4 && extent > 17) continue;
          spaces.push_back(Space::Split({extent, parts, cap, tails}));
        }
      }
    }
    spaces.push_back(Space::Split({extent, 1}));
  }
  return spaces;
}

// All splits, found without any of the rules by which a Space lists them: as
// those vectors of factors in which every iteration of every factor, with all
// others at their first, touches the extent.
std::set<DecisionValue> SplitsByForce(const SplitSpace& split) {
  std::set<DecisionValue> found;
  DecisionValue value(split.parts, 1);
  while (true) {
    int64_t product = 1;
    bool fits = true;
    for (int i = split.parts; i-- > 0;) {
      // The last iteration of this factor begins within the extent.
      fits = fits && (value[i] - 1) * product < split.extent;
      product *= value[i];
    }
    fits = fits &&
           (split.tails ? product >= split.extent : product == split.extent);
    if (split.innermost_cap > 0 && split.parts > 1) {
      fits = fits && value.back() <= split.innermost_cap;
    }
    if (fits) found.insert(value);
    int i = split.parts - 1;
    while (i >= 0 && value[i] == split.extent) value[i--] = 1;
    if (i < 0) return found;
    ++value[i];
  }
}

TEST(SpaceTest, ASplitHoldsTheFactorsThatCoverItsExtentWithoutEmptyIterations) {
  for (const int64_t extent : {1, 2, 3, 5, 7, 8, 12, 13}) {
    for (const int parts : {1, 2, 3, 4}) {
      for (const bool tails : {false, true}) {
        for (const int64_t cap : {0, 3}) {
          if (parts == 1 && cap > 0) continue;
          const SplitSpace split = {extent, parts, cap, tails};
          const Space space = Space::Split(split);
          const std::vector<DecisionValue> values = space.Values(kAll);
          EXPECT_EQ(std::set<DecisionValue>(values.begin(), values.end()),
                    SplitsByForce(split))
              << space.ToString();
        }
      }
    }
  }
}

TEST(SpaceTest, ValuesAreAllMembersOnce) {
  for (const Space& space : SmallSpaces()) {
    SCOPED_TRACE(space.ToString());
    const std::vector<DecisionValue> values = space.Values(kAll);
    EXPECT_EQ(space.size(), static_cast<double>(values.size()));
    const std::set<DecisionValue> distinct(values.begin(), values.end());
    EXPECT_EQ(distinct.size(), values.size());
    for (const DecisionValue& value : values) {
      EXPECT_TRUE(space.Contains(value)) << space.Print(value);
    }
    const size_t half = (values.size() + 1) / 2;
    EXPECT_EQ(space.Values(half), std::vector<DecisionValue>(
                                      values.begin(), values.begin() + half));
  }
}

TEST(SpaceTest, EveryValueIsDrawnEquallyOften) {
  Random random(1);
  for (const Space& space : SmallSpaces()) {
    const double each = 50;
    const double size = space.size();
    if (size > 500) continue;
    SCOPED_TRACE(space.ToString());
    std::map<DecisionValue, double> drawn;
    for (int i = 0; i < each * size; ++i) ++drawn[space.Draw(random)];
    EXPECT_EQ(static_cast<double>(drawn.size()), size);
    double chi_square = 0;
    for (const auto& [value, times] : drawn) {
      EXPECT_TRUE(space.Contains(value));
      chi_square += (times - each) * (times - each) / each;
    }
    // Mean size - 1, variance twice that.
    EXPECT_LT(chi_square, size - 1 + 5 * std::sqrt(2 * size) + 10);
  }
}

TEST(SpaceTest, AdmittedValuesAreDrawnEquallyOftenThoughFew) {
  // 3 of 10^5: hardly any draw of the parts is admitted.
  const Space space = Space::Composite(
      {{"a", Space::Integers(1, 1000)}, {"b", Space::Integers(1, 100)}},
      [](const DecisionValue& v) { return v[0] == 77 && v[1] % 40 == 7; });
  EXPECT_EQ(space.size(), 3);
  Random random(2);
  std::map<DecisionValue, int> drawn;
  for (int i = 0; i < 300; ++i) ++drawn[space.Draw(random)];
  ASSERT_EQ(drawn.size(), 3);
  for (const auto& [value, times] : drawn) EXPECT_NEAR(times, 100, 40);
}

TEST(SpaceTest, WhatIsPrintedIsReadBack) {
  for (const Space& space : SmallSpaces()) {
    for (const DecisionValue& value : space.Values(1000)) {
      EXPECT_THAT(space.Parse(" " + space.Print(value) + " "),
                  IsOkAndHolds(value))
          << space.ToString();
    }
  }
}

TEST(SpaceTest, ValuesReadAsTheirKind) {
  EXPECT_EQ(Space::OneOf({"direct", "packed"}).Print({1}), "packed");
  EXPECT_EQ(Space::Integers(1, 14).Print({6}), "6");
  EXPECT_EQ(Space::Split({112, 2}).Print({8, 14}), "8x14");
  EXPECT_EQ(Space::Permutation({"n", "k", "m"}).Print({0, 2, 1}), "(n, m, k)");
  EXPECT_EQ(RegisterTile().Print({2, 4}), "vectors 2, rows 4");
  EXPECT_EQ(Nested().Print({2, 4, 2, 0, 1, 1}),
            "tile {vectors 2, rows 4}, order (rows, n, tile), "
            "copy in_place(0)");
}

TEST(SpaceTest, SpacesReadAsOneLine) {
  EXPECT_EQ(Space::OneOf({"no", "yes"}).ToString(), "one of no, yes");
  EXPECT_EQ(Space::Integers(1, 14).ToString(), "integers 1..14");
  EXPECT_EQ(Space::Split({56, 2, 14}).ToString(),
            "split 56 in 2, innermost <= 14, tails");
  EXPECT_EQ(Space::Split({56, 3, 0, false}).ToString(),
            "split 56 in 3, no tails");
  EXPECT_EQ(Nested().ToString(),
            "{tile: {vectors: integers 1..8; rows: integers 1..16} where "
            "admitted; order: permutation of n, tile, rows; copy: one of "
            "packed, in_place(0)}");
}

TEST(SpaceTest, TextOfAnotherFormIsRefusedWithTheForm) {
  const auto refused = [](const char* message) {
    return StatusIs(absl::StatusCode::kInvalidArgument, message);
  };
  EXPECT_THAT(Space::OneOf({"direct", "packed"}).Parse("pack"),
              refused("'pack' is none of the options direct, packed"));
  EXPECT_THAT(Space::Integers(1, 14).Parse("6.5"), refused("is no integer"));
  EXPECT_THAT(Space::Integers(1, 14).Parse("99999999999999999999"),
              refused("is no integer"));
  for (const char* text : {"8", "8x14x2", "8x", "x", "", "8x0", "8x-1"}) {
    EXPECT_THAT(Space::Split({112, 2}).Parse(text),
                refused("not 2 positive factors"));
  }
  for (const char* text : {"", "(", "()", "(n, k)", "(n, n, k)", "n, k, m",
                           "(n, k, m, n)", "(n, k, l)"}) {
    EXPECT_THAT(Space::Permutation({"n", "k", "m"}).Parse(text),
                refused("no order of names, such as (n, k, m)"));
  }
  for (const char* text : {"", "vectors 2", "rows 4, vectors 2", "2, 4",
                           "rows 4", "vectors, rows"}) {
    EXPECT_THAT(RegisterTile().Parse(text),
                refused("is not vectors ..., rows ..."));
  }
  EXPECT_THAT(RegisterTile().Parse("vectors 2, rows 4, rows 4"),
              refused("is no integer"));
  EXPECT_THAT(Nested().Parse("tile vectors 2, order (n, tile, rows), copy a"),
              refused("is not tile {...}, order ..., copy ..."));
}

TEST(SpaceTest, TextOfTheRightFormIsReadThoughItIsNoMember) {
  EXPECT_THAT(Space::Integers(1, 14).Parse("400"),
              IsOkAndHolds(DecisionValue{400}));
  EXPECT_THAT(Space::Split({56, 2}).Parse("8x14"),
              IsOkAndHolds(DecisionValue{8, 14}));
  EXPECT_THAT(RegisterTile().Parse("vectors  8 ,rows 16"),
              IsOkAndHolds(DecisionValue{8, 16}));
}

TEST(SpaceTest, TheNearestKeepsInnerFactorsOfASplitAndCoversWithTheOutermost) {
  EXPECT_THAT(Space::Split({56, 2}).Nearest({8, 14}), ElementsAre(4, 14));
  EXPECT_THAT(Space::Split({60, 2, 0, false}).Nearest({8, 14}),
              ElementsAre(4, 15));
  EXPECT_THAT(Space::Split({56, 2, 6}).Nearest({4, 14}), ElementsAre(10, 6));
  EXPECT_THAT(Space::Split({10000000, 3}).Nearest({1, 100, 3000}),
              ElementsAre(34, 100, 3000));
}

TEST(SpaceTest, TheNearestOfOtherLengthsIsTheFirstValue) {
  EXPECT_THAT(Space::Split({56, 2}).Nearest({1, 2, 3}), ElementsAre(56, 1));
  EXPECT_THAT(Space::Integers(3, 9).Nearest({}), ElementsAre(3));
}

double Octaves(int64_t a, int64_t b) {
  const auto octave = [](int64_t n) { return n > 0 ? std::log2(n) : n - 1.0; };
  return std::abs(octave(a) - octave(b));
}

// Distances as the header tells them, of the spaces below.
double DistanceByForce(const Space& space, const DecisionValue& value,
                       const DecisionValue& member) {
  double distance = 0;
  for (size_t i = 0; i < value.size(); ++i) {
    switch (space.kind()) {
      case Space::Kind::kOneOf:
      case Space::Kind::kPermutation:
        distance += value[i] != member[i];
        break;
      case Space::Kind::kSplit:
        if (i > 0) distance += Octaves(value[i], member[i]);
        break;
      case Space::Kind::kIntegers:
      case Space::Kind::kComposite:  // of integers alone
        distance += Octaves(value[i], member[i]);
        break;
    }
  }
  return distance;
}

TEST(SpaceTest, TheNearestIsTheFirstOfLeastDistance) {
  Random random(3);
  for (const Space& space : SmallSpaces()) {
    SCOPED_TRACE(space.ToString());
    const std::vector<DecisionValue> values = space.Values(kAll);
    const bool of_integers =
        space.kind() != Space::Kind::kComposite || values[0].size() == 2;
    for (int trial = 0; trial < 20; ++trial) {
      DecisionValue asked = values[0];
      for (int64_t& n : asked) {
        const int64_t most = random.Bernoulli(0.5) ? 4 : 60;
        n = random.UniformInt(random.Bernoulli(0.1) ? -5 : 1, most);
      }
      const DecisionValue nearest = space.Nearest(asked);
      ASSERT_TRUE(space.Contains(nearest));
      if (!of_integers) continue;
      const DecisionValue* best = nullptr;
      double least = std::numeric_limits<double>::infinity();
      for (const DecisionValue& value : values) {
        const double distance = DistanceByForce(space, asked, value);
        if (distance < least - 1e-9) {
          least = distance;
          best = &value;
        }
      }
      EXPECT_EQ(nearest, *best) << ::testing::PrintToString(asked);
    }
    for (const DecisionValue& value : values) {
      ASSERT_EQ(space.Nearest(value), value);
    }
  }
}

TEST(SpaceTest, NeighboursAreOtherMembersOnce) {
  for (const Space& space : SmallSpaces()) {
    SCOPED_TRACE(space.ToString());
    for (const DecisionValue& value : space.Values(200)) {
      const std::vector<DecisionValue> near = space.Neighbours(value);
      const std::set<DecisionValue> distinct(near.begin(), near.end());
      EXPECT_EQ(distinct.size(), near.size());
      EXPECT_EQ(distinct.count(value), 0);
      for (const DecisionValue& n : near) EXPECT_TRUE(space.Contains(n));
    }
  }
}

TEST(SpaceTest, StepsBetweenNeighboursReachEveryValue) {
  for (const Space& space : SmallSpaces()) {
    // Where parts are tied by what is admitted, there need not be a path.
    if (space.kind() == Space::Kind::kComposite || space.size() > 500) continue;
    std::vector<DecisionValue> open = space.Values(1);
    std::set<DecisionValue> reached(open.begin(), open.end());
    while (!open.empty()) {
      const DecisionValue value = open.back();
      open.pop_back();
      for (const DecisionValue& near : space.Neighbours(value)) {
        if (reached.insert(near).second) open.push_back(near);
      }
    }
    EXPECT_EQ(static_cast<double>(reached.size()), space.size())
        << space.ToString();
  }
}

TEST(SpaceTest, NeighboursDifferLittle) {
  EXPECT_THAT(Space::OneOf({"a", "b", "c"}).Neighbours({1}),
              UnorderedElementsAre(ElementsAre(0), ElementsAre(2)));
  EXPECT_THAT(Space::Integers(1, 14).Neighbours({6}),
              UnorderedElementsAre(ElementsAre(5), ElementsAre(7),
                                   ElementsAre(3), ElementsAre(12)));
  EXPECT_THAT(Space::Integers(7, 7).Neighbours({7}), IsEmpty());
  EXPECT_THAT(Space::Permutation({"a", "b", "c"}).Neighbours({0, 1, 2}),
              UnorderedElementsAre(ElementsAre(1, 0, 2), ElementsAre(0, 2, 1)));
  // One step, and a factor 2 or 7 moved.
  EXPECT_THAT(Space::Split({56, 2, 0, false}).Neighbours({4, 14}),
              UnorderedElementsAre(ElementsAre(7, 8), ElementsAre(2, 28),
                                   ElementsAre(8, 7), ElementsAre(28, 2)));
  EXPECT_THAT(Space::Split({56, 2, 14}).Neighbours({4, 14}),
              UnorderedElementsAre(ElementsAre(5, 13), ElementsAre(8, 7),
                                   ElementsAre(28, 2)));
}

TEST(SpaceTest, SizesOfLargeSpacesAreExact) {
  EXPECT_EQ(Space::Split({10000000, 2}).size(), 10000000);
  EXPECT_EQ(Space::Split({10000000, 2, 64}).size(), 64);
  double sum = 0;  // of what is left for two parts
  for (int64_t f = 1; f <= 10000000; ++f) sum += (10000000 + f - 1) / f;
  EXPECT_EQ(Space::Split({10000000, 3}).size(), sum);
  // 10^7 = 2^7 5^7.
  EXPECT_EQ(Space::Split({10000000, 2, 0, false}).size(), 8 * 8);
  EXPECT_EQ(Space::Split({10000000, 4, 0, false}).size(), 120 * 120);
  EXPECT_EQ(Space::Split({9973, 3, 0, false}).size(), 3);  // a prime
  EXPECT_EQ(Space::Integers(0, int64_t{1} << 52).size(), 0x1p52 + 1);
}

TEST(SpaceTest, LargeSpacesAreDrawnFromWithoutListing) {
  Random random(4);
  const Space space = Space::Composite({{"m", Space::Split({10000000, 4})},
                                        {"n", Space::Split({9999991, 3, 64})}});
  EXPECT_GT(space.size(), 1e15);
  for (int i = 0; i < 3; ++i) {
    const DecisionValue value = space.Draw(random);
    EXPECT_TRUE(space.Contains(value));
    EXPECT_EQ(space.Nearest(value), value);
  }
  const std::set<int64_t> ends = {std::numeric_limits<int64_t>::min(),
                                  std::numeric_limits<int64_t>::max()};
  const Space widest = Space::Integers(*ends.begin(), *ends.rbegin());
  for (const int64_t end : ends) {
    for (const DecisionValue& near : widest.Neighbours({end})) {
      EXPECT_TRUE(widest.Contains(near));
    }
  }
}

TEST(SpaceTest, ContainsRefusesOtherLengthsAndExtremeNumbers) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  for (const Space& space : SmallSpaces()) {
    const DecisionValue member = space.Values(1).front();
    DecisionValue value = member;
    value.push_back(1);
    EXPECT_FALSE(space.Contains(value));
    EXPECT_FALSE(space.Contains({}));
    for (const int64_t n : {most, -most - 1}) {
      value.assign(member.size(), n);
      EXPECT_FALSE(space.Contains(value));
      EXPECT_TRUE(space.Contains(space.Nearest(value)));
    }
  }
}

TEST(SpaceDeathTest, BadSpacesAreBugs) {
  EXPECT_DEATH(Space::OneOf({"a", "b", "a"}), "'a' stands twice");
  EXPECT_DEATH(Space::OneOf({"a b"}), "'a b' has a character");
  EXPECT_DEATH(Space::Permutation({"(n)"}), "has a character");
  EXPECT_DEATH(Space::OneOf({}), "empty");
  EXPECT_DEATH(Space::Integers(2, 1), "least <= most");
  EXPECT_DEATH(Space::Split({0, 2}), "extent");
  EXPECT_DEATH(Space::Split({9, 1, 4}), "split 9 in 1");
  EXPECT_DEATH(Space::Integers(1, 2).Neighbours({3}), "integers 1..2");
  const Space none =
      Space::Composite({{"a", Space::Integers(1, 2)}},
                       [](const DecisionValue&) { return false; });
  EXPECT_DEATH(none.Values(1), "admits no value");
  Random random(5);
  EXPECT_DEATH(none.Draw(random), "admits no value");
  EXPECT_DEATH(none.Nearest({7}), "admits no value");
  EXPECT_DEATH(Space::Composite({{"a", Space::Integers(1, 1 << 21)}},
                                [](const DecisionValue&) { return true; })
                   .size(),
               "too many values to be listed");
}

}  // namespace
}  // namespace tilewright
