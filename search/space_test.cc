#include "search/space.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "search/candidate.h"
#include "search/replayed_features.h"
#include "search/testing/landscape.h"
#include "sketch/rules/generator.h"
#include "sketch/testing/sample_groups.h"
#include "sketch/trace/schedule.h"
#include "tilegraph/decision/space.h"

namespace tilewright::search {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// v0 of 0..8, and v1 of 0..v0; the trace is their sum.
sketch::Generator DependentGenerator() {
  return {
      "dependent",
      [](const sketch::Workload&, const DeviceSpec&,
         Decider& decider) -> absl::StatusOr<sketch::Schedule> {
        const auto none = [] { return int64_t{0}; };
        const int64_t outer =
            decider.DecideNumber("v0", Space::Integers(0, 8), none);
        const int64_t inner =
            decider.DecideNumber("v1", Space::Integers(0, outer), none);
        if (outer == 5) {
          return absl::InvalidArgumentError(absl::StrCat("five with ", inner));
        }
        sketch::ScheduleWriter writer;
        writer.Block(absl::StrCat(outer + inner));
        return std::move(writer).Finish();
      }};
}

TaskSpace DependentSpace() {
  return TaskSpace(sketch::Workload(), {DependentGenerator()}, DeviceSpec(),
                   NumberFeatures());
}

std::vector<int> Numbers(const Candidate& candidate) {
  return NumbersOf(candidate.schedule);
}

TEST(TaskSpaceTest, DrawsFindEveryCandidateOfASmallSpaceOnce) {
  TaskSpace space = NumberSpace({3, 2});
  Random random(1);
  std::set<std::vector<int>> found;
  for (const Candidate& candidate : space.DrawNew(50, {}, random))
    found.insert(Numbers(candidate));
  EXPECT_THAT(found, SizeIs(12));
}

TEST(TaskSpaceTest, CandidatesWithEqualTracesAreOne) {
  TaskSpace space = DependentSpace();
  Random random(1);
  // Sums of 0 to 16, but 10 = 5 + 5, 9 = 5 + 4 = 6 + 3 and so on need no five;
  // all from 0 to 16 are there without it.
  EXPECT_THAT(space.DrawNew(100, {}, random), SizeIs(17));
}

TEST(TaskSpaceTest, ExcludedTracesAreNotDrawn) {
  TaskSpace space = NumberSpace({3, 2});
  Random random(1);
  Traces excluded;
  for (const Candidate& candidate : space.DrawNew(5, {}, random))
    excluded.insert(candidate.trace);
  const std::vector<Candidate> rest = space.DrawNew(50, excluded, random);
  EXPECT_THAT(rest, SizeIs(7));
  for (const Candidate& candidate : rest)
    EXPECT_EQ(excluded.count(candidate.trace), 0);
}

TEST(TaskSpaceTest, MutationChangesOneEntryDrawnByWeight) {
  SpaceOptions options;
  options.weigh = [](const Decision& decision) {
    return decision.name == "v1" ? 3.0 : decision.name == "v2" ? 0.0 : 1.0;
  };
  TaskSpace space = NumberSpace({9, 9, 9, 0}, {4, 5, 6}, options);
  TW_ASSERT_OK_AND_ASSIGN(const Candidate parent, space.Preferred());
  Random random(7);
  std::vector<int> changed(4);
  constexpr int kMutants = 4000;
  for (int i = 0; i < kMutants; ++i) {
    TW_ASSERT_OK_AND_ASSIGN(const Candidate mutant,
                            space.Mutate(parent, random));
    int different = 0;
    for (size_t k = 0; k < 4; ++k) {
      if (Numbers(mutant)[k] == Numbers(parent)[k]) continue;
      ++different;
      ++changed[k];
    }
    ASSERT_EQ(different, 1);
  }
  // 1 of 4: a standard deviation is 0.007.
  EXPECT_NEAR(changed[0] / double{kMutants}, 0.25, 0.03);
  EXPECT_NEAR(changed[1] / double{kMutants}, 0.75, 0.03);
  EXPECT_THAT(std::vector<int>({changed[2], changed[3]}), ElementsAre(0, 0));
}

TEST(TaskSpaceTest, WhatIsNotSearchedStaysAsTheRulesHaveIt) {
  SpaceOptions options;
  options.is_searched = [](const std::string& name) { return name == "v1"; };
  TaskSpace space = NumberSpace({9, 9, 9}, {4, 5, 6}, options);
  TW_ASSERT_OK_AND_ASSIGN(const Candidate parent, space.Preferred());
  Random random(7);
  std::set<int> drawn;
  for (int i = 0; i < 100; ++i) {
    for (const auto& candidate :
         {space.Draw(random), space.Mutate(parent, random),
          space.Redraw(parent, random)}) {
      TW_ASSERT_OK(candidate.status());
      EXPECT_THAT(Numbers(*candidate), ElementsAre(4, testing::_, 6));
      drawn.insert(Numbers(*candidate)[1]);
    }
  }
  EXPECT_THAT(drawn, SizeIs(10));
}

TEST(TaskSpaceTest, GeneratorsBeforeTheFirstSearchedHaveTheirRulesAlone) {
  SpaceOptions options;
  options.first_searched = 1;
  TaskSpace space(sketch::Workload(),
                  {NumbersGenerator({9}, {4}), NumbersGenerator({9, 9})},
                  DeviceSpec(), NumberFeatures(), options);
  TW_ASSERT_OK_AND_ASSIGN(const Candidate rules, space.Preferred());
  EXPECT_THAT(Numbers(rules), ElementsAre(4));
  Random random(7);
  for (int i = 0; i < 50; ++i) {
    TW_ASSERT_OK_AND_ASSIGN(const Candidate drawn, space.Draw(random));
    EXPECT_THAT(Numbers(drawn), SizeIs(2));
  }
  EXPECT_THAT(space.Mutate(rules, random),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(space.Redraw(rules, random),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(TaskSpaceTest, LargerSpacesAreMutatedMoreOftenByDefault) {
  TaskSpace space = NumberSpace({1, 255});  // 1 bit and 8
  TW_ASSERT_OK_AND_ASSIGN(const Candidate parent, space.Preferred());
  Random random(7);
  int first = 0;
  for (int i = 0; i < 3000; ++i) {
    TW_ASSERT_OK_AND_ASSIGN(const Candidate mutant,
                            space.Mutate(parent, random));
    first += Numbers(mutant)[0] != Numbers(parent)[0] ? 1 : 0;
  }
  EXPECT_NEAR(first / 3000.0, 1 / 9.0, 0.03);
}

TEST(TaskSpaceTest, RedrawTakesEveryOtherValueOfAnyEntryEquallyOften) {
  TaskSpace space = NumberSpace({2, 4});
  TW_ASSERT_OK_AND_ASSIGN(const Candidate parent, space.Preferred());
  Random random(3);
  std::map<std::vector<int>, int> count;
  for (int i = 0; i < 4000; ++i) {
    TW_ASSERT_OK_AND_ASSIGN(const Candidate next, space.Redraw(parent, random));
    ++count[Numbers(next)];
  }
  ASSERT_THAT(count, SizeIs(2 + 4));
  for (const auto& [numbers, times] : count)
    EXPECT_NEAR(times, numbers[0] > 0 ? 1000 : 500, 120);
}

TEST(TaskSpaceTest, KeptValuesOutsideTheirNewSpaceAreRoundedAndCounted) {
  TaskSpace space = DependentSpace();
  TW_ASSERT_OK_AND_ASSIGN(
      const Candidate parent,
      space.FromAnswers("dependent", {{"v0", "8"}, {"v1", "7"}}));
  Random random(5);
  int64_t expected = 0;
  for (int i = 0; i < 300; ++i) {
    const absl::StatusOr<Candidate> mutant = space.Mutate(parent, random);
    if (!mutant.ok()) {
      ++expected;  // of v0 = 5 v1 = 7 was rounded
      continue;
    }
    const std::vector<int> numbers = Numbers(*mutant);
    if (numbers[0] == 8) continue;
    EXPECT_EQ(numbers[1], std::min(numbers[0], 7));
    expected += numbers[0] < 7 ? 1 : 0;
  }
  EXPECT_GT(expected, 0);
  EXPECT_EQ(space.rounded(), expected);
}

TEST(TaskSpaceTest, CrossoverMixesTwoTablesByName) {
  TaskSpace space = NumberSpace({9, 9, 9}, {1, 2, 3});
  TW_ASSERT_OK_AND_ASSIGN(const Candidate a, space.Preferred());
  TW_ASSERT_OK_AND_ASSIGN(
      const Candidate b,
      space.FromAnswers("made-up", {{"v0", "4"}, {"v1", "5"}, {"v2", "6"}}));
  Random random(11);
  std::set<std::vector<int>> children;
  for (int i = 0; i < 200; ++i) {
    TW_ASSERT_OK_AND_ASSIGN(const Candidate child, space.Cross(a, b, random));
    EXPECT_THAT(Numbers(child),
                ElementsAre(AnyOf(1, 4), AnyOf(2, 5), AnyOf(3, 6)));
    children.insert(Numbers(child));
  }
  EXPECT_THAT(children, SizeIs(8));
}

TEST(TaskSpaceTest, WhatNoTableAnswersIsPreferredWithRulesAndRandomWithout) {
  for (const bool use_rules : {true, false}) {
    SpaceOptions options;
    options.use_rules = use_rules;
    TaskSpace space = NumberSpace({9, 99}, {1, 42}, options);
    TW_ASSERT_OK_AND_ASSIGN(Candidate parent, space.Preferred());
    parent.table.pop_back();  // v1 is not answered
    Random random(2);
    std::set<int> others;
    for (int i = 0; i < 20; ++i) {
      TW_ASSERT_OK_AND_ASSIGN(const Candidate mutant,
                              space.Mutate(parent, random));
      others.insert(Numbers(mutant)[1]);
    }
    EXPECT_EQ(others == std::set<int>{42}, use_rules);
  }
}

TEST(TaskSpaceTest, RefusalsAreCountedByReasonWithTheFirstMessage) {
  TaskSpace space = DependentSpace();
  int refused = 0;
  for (const char* inner : {"3", "1", "5"}) {
    const absl::Status status =
        space.FromAnswers("dependent", {{"v0", "5"}, {"v1", inner}}).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                 absl::StrCat("dependent: five with ", inner)));
    refused += status.ok() ? 0 : 1;
  }
  ASSERT_THAT(space.refusals(), SizeIs(1));
  EXPECT_EQ(space.refusals().begin()->second.count, refused);
  EXPECT_EQ(space.refusals().begin()->second.first, "dependent: five with 3");
  EXPECT_EQ(space.RefusalText(),
            "3 of 3 runs were refused: 3 as 'dependent: five with 3'");
}

TEST(TaskSpaceTest, AFailingGeneratorGivesNothingInAFewRuns) {
  const sketch::Generator failing = {
      "failing",
      [](const sketch::Workload&, const DeviceSpec&,
         Decider&) -> absl::StatusOr<sketch::Schedule> {
        return absl::InvalidArgumentError("never");
      }};
  SpaceOptions options;
  options.most_vain_runs = 30;
  TaskSpace space(sketch::Workload(), {failing}, DeviceSpec(), NumberFeatures(),
                  options);
  Random random(1);
  EXPECT_THAT(space.DrawNew(8, {}, random), SizeIs(0));
  EXPECT_EQ(space.runs(), 30);
  EXPECT_THAT(space.Preferred(),
              StatusIs(absl::StatusCode::kInvalidArgument, "failing: never"));
  EXPECT_THAT(space.RefusalText(), HasSubstr("31 of 31"));
}

TEST(TaskSpaceTest, WithoutAnotherValueThereIsNoMutant) {
  TaskSpace space = NumberSpace({0, 0});
  TW_ASSERT_OK_AND_ASSIGN(const Candidate only, space.Preferred());
  Random random(1);
  EXPECT_THAT(space.Mutate(only, random),
              StatusIs(absl::StatusCode::kFailedPrecondition, "no decision"));
  EXPECT_THAT(space.Redraw(only, random),
              StatusIs(absl::StatusCode::kFailedPrecondition, "no decision"));
}

TEST(TaskSpaceTest, UnknownGeneratorsOfRecordsAreNotFound) {
  TaskSpace space = NumberSpace({3});
  EXPECT_THAT(space.FromAnswers("other", {}),
              StatusIs(absl::StatusCode::kNotFound, "'other'"));
}

// Groups of every family: the rules' candidate has the trace that compiling
// takes, mutants and draws replay, and equal seeds give equal candidates. The
// time of a candidate before it is built is printed.
TEST(TaskSpaceTest, SampleGroupsOfEveryFamily) {
  int64_t runs = 0, candidates = 0;
  const int64_t start_ns = RealClock()->ThreadCpuNs();
  for (uint64_t seed = 0; seed < 110; ++seed) {
    const sketch::SampleGroup group = sketch::DrawSampleGroup(seed);
    std::vector<Fingerprint> traces[2];
    for (std::vector<Fingerprint>& found : traces) {
      TaskSpace space(group.workload, {group.generator}, group.spec,
                      ReplayedStoreFeatures());
      Random random(seed);
      const absl::StatusOr<Candidate> rule = space.Preferred();
      if (!rule.ok()) continue;  // some fused groups
      const auto preferred = sketch::GeneratePreferred(
          group.generator, group.workload, group.spec);
      TW_ASSERT_OK(preferred.status());
      EXPECT_EQ(rule->trace, TraceOf(*preferred));
      EXPECT_GE(rule->features.rows(), 1);
      std::vector<Candidate> all = space.DrawNew(5, {}, random);
      for (Candidate& mutant :
           space.Collect(5, {}, [&] { return space.Mutate(*rule, random); }))
        all.push_back(std::move(mutant));
      for (const Candidate& candidate : all) found.push_back(candidate.trace);
      runs += space.runs();
      candidates += static_cast<int64_t>(all.size());
    }
    EXPECT_EQ(traces[0], traces[1]) << group.source;
  }
  EXPECT_GT(candidates, 1000);
  const double ms =
      1e-6 * static_cast<double>(RealClock()->ThreadCpuNs() - start_ns);
  std::printf("%.3f ms a run of a generator, %.3f a candidate that was kept\n",
              ms / static_cast<double>(runs),
              ms / static_cast<double>(candidates));
}

}  // namespace
}  // namespace tilewright::search
