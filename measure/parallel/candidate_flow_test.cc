#include "measure/parallel/candidate_flow.h"

#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "base/cancellation.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/parallel/scripted_pool.h"

namespace tilewright::measure {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const AdaptiveEvaluatorOptions kThrice = AdaptiveEvaluatorOptions::Fixed(3);

CandidateFlow::Limits AtMost(int under_way, int measured) {
  CandidateFlow::Limits limits;
  limits.under_way = under_way;
  limits.measured = measured;
  return limits;
}

TEST(CandidateFlowTest, OneAtATime) {
  ScriptedPool pool(8, std::vector<ScriptedCandidate>(5));
  CandidateFlow flow(&pool, kThrice);
  TW_ASSERT_OK(flow.Start({}, pool.AllSchedules()));
  EXPECT_THAT(flow.Pass(AtMost(1, 1)),
              IsOkAndHolds(ElementsAre(0, 1, 2, 3, 4)));
  EXPECT_EQ(pool.most_under_way, 1);
  EXPECT_EQ(pool.most_measured, 1);
  EXPECT_EQ(pool.prepared_now(), 0);
  EXPECT_TRUE(flow.done());
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(flow.candidate(i).disturbed);
}

TEST(CandidateFlowTest, SomeAreMeasuredWhileMoreArePrepared) {
  ScriptedPool pool(4, std::vector<ScriptedCandidate>(20));
  CandidateFlow flow(&pool, kThrice);
  TW_ASSERT_OK(flow.Start({}, pool.AllSchedules()));
  TW_ASSERT_OK(flow.WaitForBuilds());
  EXPECT_THAT(flow.Pass(AtMost(4, 2)), IsOkAndHolds(SizeIs(20)));
  EXPECT_EQ(pool.most_under_way, 4);
  EXPECT_EQ(pool.most_measured, 2);
  EXPECT_EQ(flow.most_measured(), 2);
  EXPECT_TRUE(flow.candidate(0).disturbed);
}

TEST(CandidateFlowTest, AQuotaEndsARoundAndTheOthersWait) {
  ScriptedPool pool(8, std::vector<ScriptedCandidate>(7));
  CandidateFlow flow(&pool, kThrice);
  TW_ASSERT_OK(flow.Start({}, pool.AllSchedules()));
  CandidateFlow::Limits limits = AtMost(8, 3);
  limits.quota = 3;
  limits.keep = true;
  EXPECT_THAT(flow.Pass(limits), IsOkAndHolds(ElementsAre(0, 1, 2)));
  EXPECT_FALSE(flow.done());
  EXPECT_THAT(pool.measured, ElementsAre(0, 1, 2));
  for (const int i : {0, 1, 2}) flow.Release(i);
  EXPECT_THAT(flow.Pass(limits), IsOkAndHolds(ElementsAre(3, 4, 5)));
  EXPECT_THAT(flow.Pass(limits), IsOkAndHolds(ElementsAre(6)));
  EXPECT_EQ(flow.most_measured(), 1);
  EXPECT_TRUE(flow.done());
  EXPECT_THAT(flow.Pass(limits), IsOkAndHolds(IsEmpty()));
}

TEST(CandidateFlowTest, WhatFailsOnItsWayEndsThere) {
  std::vector<ScriptedCandidate> script(4);
  script[0].build = Measurement::BUILD_ERROR;
  script[1].prepare = Measurement::OUT_OF_MEMORY;
  script[2].alone = script[2].in_parallel = Measurement::RUN_ERROR;
  ScriptedPool pool(8, script);
  CandidateFlow flow(&pool, kThrice);
  TW_ASSERT_OK(flow.Start({}, pool.AllSchedules()));
  EXPECT_THAT(flow.Pass(AtMost(8, 8)),
              IsOkAndHolds(UnorderedElementsAre(1, 2, 3)));
  EXPECT_EQ(flow.candidate(0).event.outcome, Measurement::BUILD_ERROR);
  EXPECT_EQ(flow.candidate(0).build_ns, 5);
  EXPECT_EQ(flow.candidate(1).event.outcome, Measurement::OUT_OF_MEMORY);
  EXPECT_EQ(flow.candidate(2).event.outcome, Measurement::RUN_ERROR);
  EXPECT_EQ(flow.candidate(3).event.outcome, Measurement::OK);
  EXPECT_TRUE(flow.done());
}

// Candidate 1 takes five times as long as candidate 0, candidate 2 four times.
TEST(CandidateFlowTest, WhatIsTooSlowHasOneVisit) {
  std::vector<ScriptedCandidate> script(3);
  script[1].alone_ns = 5000;
  script[2].alone_ns = 4000;
  ScriptedPool pool(1, script);
  CandidateFlow flow(&pool, kThrice);
  TW_ASSERT_OK(flow.Start({}, pool.AllSchedules()));
  CandidateFlow::Limits limits = AtMost(1, 1);
  limits.visits = 2;
  limits.give_up_factor = 4;
  EXPECT_THAT(flow.Pass(limits), IsOkAndHolds(UnorderedElementsAre(0, 1, 2)));
  EXPECT_THAT(pool.measured, ElementsAre(0, 1, 2, 0, 2));
  EXPECT_EQ(flow.fastest_ns(), 1000);
  EXPECT_EQ(pool.give_up_above_ns[0], kInfinity);  // nothing to compare with
  EXPECT_EQ(pool.give_up_above_ns[1], 4000);
  EXPECT_EQ(flow.candidate(1).event.latencies_ns.size(), 3);
  EXPECT_EQ(flow.candidate(2).event.latencies_ns.size(), 6);
}

// A kept candidate is measured again as it is; a failed one is prepared again.
TEST(CandidateFlowTest, AloneMeansThatNothingElseIsUnderWay) {
  std::vector<ScriptedCandidate> script(6);
  script[0].in_parallel_ns = 3000;
  script[1].in_parallel = Measurement::TIMEOUT;
  ScriptedPool pool(8, script);
  CandidateFlow flow(&pool, kThrice);
  TW_ASSERT_OK(flow.Start({}, pool.AllSchedules()));
  CandidateFlow::Limits limits = AtMost(8, 2);
  limits.quota = 2;
  limits.keep = true;
  ASSERT_THAT(flow.Pass(limits), IsOkAndHolds(ElementsAre(0, 1)));
  EXPECT_EQ(flow.candidate(0).event.latencies_ns[0], 3000);
  EXPECT_EQ(flow.candidate(1).event.outcome, Measurement::TIMEOUT);
  for (const int i : {0, 1}) {
    TW_ASSERT_OK(flow.MeasureAlone(i, AdaptiveEvaluatorOptions::Fixed(2), 9));
    EXPECT_EQ(flow.candidate(i).event.outcome, Measurement::OK);
    EXPECT_EQ(flow.candidate(i).event.latencies_ns[0], 1000);
    EXPECT_FALSE(flow.candidate(i).disturbed);
    flow.Release(i);
  }
  EXPECT_THAT(pool.timeouts_s, ElementsAre(4, 4, 9, 9));
  EXPECT_THAT(pool.repeats, ElementsAre(3, 3, 2, 2));
  // Both are through.
  limits.quota = 100;
  limits.keep = false;
  EXPECT_THAT(flow.Pass(limits),
              IsOkAndHolds(UnorderedElementsAre(2, 3, 4, 5)));
  EXPECT_EQ(pool.prepared_now(), 0);
}

TEST(CandidateFlowTest, WhatCannotBePreparedAgainHasFailed) {
  std::vector<ScriptedCandidate> script(2);
  script[0].prepare = Measurement::OUT_OF_MEMORY;
  ScriptedPool pool(8, script);
  CandidateFlow flow(&pool, kThrice);
  TW_ASSERT_OK(flow.Start({}, pool.AllSchedules()));
  ASSERT_THAT(flow.Pass(AtMost(8, 2)), IsOkAndHolds(ElementsAre(0, 1)));
  TW_ASSERT_OK(flow.MeasureAlone(0, kThrice, 4));
  EXPECT_EQ(flow.candidate(0).event.outcome, Measurement::OUT_OF_MEMORY);
  EXPECT_TRUE(flow.done());
}

TEST(CandidateFlowTest, ABrokenPoolIsAnError) {
  ScriptedPool pool(8, std::vector<ScriptedCandidate>(2));
  CandidateFlow flow(&pool, kThrice);
  TW_ASSERT_OK(flow.Start({}, pool.AllSchedules()));
  pool.Break();
  EXPECT_THAT(flow.Pass(AtMost(8, 2)),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST(CandidateFlowTest, NoCandidates) {
  ScriptedPool pool(8, {});
  CandidateFlow flow(&pool, kThrice);
  TW_ASSERT_OK(flow.Start({}, {}));
  EXPECT_THAT(flow.Pass(AtMost(8, 2)), IsOkAndHolds(IsEmpty()));
}

// One at a time: the first visits in worker 0, the second ones, once the quota
// had theirs, in worker 1.
TEST(CandidateFlowTest, VisitsAreInDifferentWorkers) {
  ScriptedPool pool(2, std::vector<ScriptedCandidate>(5));
  CandidateFlow flow(&pool, kThrice);
  TW_ASSERT_OK(flow.Start({}, pool.AllSchedules()));
  CandidateFlow::Limits limits = AtMost(1, 1);
  limits.visits = 2;
  limits.quota = 3;
  EXPECT_THAT(flow.Pass(limits), IsOkAndHolds(ElementsAre(0, 1, 2)));
  EXPECT_THAT(pool.measured, ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THAT(pool.workers_used, ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_THAT(flow.Pass(limits), IsOkAndHolds(ElementsAre(3, 4)));
  EXPECT_TRUE(flow.done());
  EXPECT_EQ(pool.prepared_now(), 0);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(flow.candidate(i).event.latencies_ns.size(), 6);
    EXPECT_EQ(flow.candidate(i).event.executions, 6);
    EXPECT_FALSE(flow.candidate(i).disturbed);
  }
}

TEST(CandidateFlowTest, VisitsOfSeveralAtATime) {
  for (const int workers : {2, 3, 5}) {
    for (const int visits : {2, 3, 4}) {
      std::vector<ScriptedCandidate> script(23);
      script[7].alone = script[7].in_parallel = Measurement::RUN_ERROR;
      ScriptedPool pool(workers, script);
      CandidateFlow flow(&pool, kThrice);
      TW_ASSERT_OK(flow.Start({}, pool.AllSchedules()));
      CandidateFlow::Limits limits = AtMost(workers, 2);
      limits.visits = visits;
      limits.quota = 6;
      limits.keep = true;
      int ended = 0;
      while (!flow.done()) {
        TW_ASSERT_OK_AND_ASSIGN(const std::vector<int> round,
                                flow.Pass(limits));
        ASSERT_THAT(round, Not(IsEmpty()));
        ended += static_cast<int>(round.size());
        for (const int index : round) {
          const PoolEvent& event = flow.candidate(index).event;
          EXPECT_EQ(event.executions, index == 7 ? 0 : 3 * visits);
          EXPECT_TRUE(flow.candidate(index).disturbed || index == 22);
          flow.Release(index);
        }
      }
      EXPECT_EQ(ended, 23);
      EXPECT_EQ(pool.most_measured, 2);
      EXPECT_EQ(pool.prepared_now(), 0);
    }
  }
}

// Failed builds and what is not wanted never pass; the others pass once.
TEST(CandidateFlowTest, WhoWatchesHearsOfEveryEndOnce) {
  std::vector<ScriptedCandidate> script(6);
  script[1].build = Measurement::BUILD_ERROR;
  for (int i = 0; i < 6; ++i) script[i].spills = 10 * i;
  script[3].prepare = Measurement::OUT_OF_MEMORY;
  ScriptedPool pool(8, script);
  CandidateFlow flow(&pool, kThrice);
  std::vector<int> ended;
  CandidateFlow::Watch watch;
  watch.wanted = [&](int index) { return *flow.candidate(index).spills < 40; };
  watch.on_end = [&](int index) { ended.push_back(index); };
  flow.set_watch(watch);
  TW_ASSERT_OK(flow.Start({}, pool.AllSchedules()));
  TW_ASSERT_OK(flow.WaitForBuilds());
  EXPECT_THAT(ended, ElementsAre(1, 4, 5));
  EXPECT_EQ(flow.candidate(4).event.outcome, Measurement::NOT_MEASURED);
  EXPECT_THAT(flow.Pass(AtMost(8, 2)), IsOkAndHolds(SizeIs(3)));
  EXPECT_THAT(ended, UnorderedElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(pool.measured, UnorderedElementsAre(0, 2));
  EXPECT_TRUE(flow.done());
}

TEST(CandidateFlowTest, CancelledItLeavesNothingUnderWay) {
  ScriptedPool pool(4, std::vector<ScriptedCandidate>(9));
  Cancellation cancellation;
  {
    CandidateFlow flow(&pool, kThrice);
    CandidateFlow::Watch watch;
    watch.cancellation = &cancellation;
    std::vector<int> ended;
    watch.on_end = [&](int index) {
      ended.push_back(index);
      if (ended.size() == 2) cancellation.Cancel();
    };
    flow.set_watch(watch);
    TW_ASSERT_OK(flow.Start({}, pool.AllSchedules()));
    EXPECT_THAT(flow.Pass(AtMost(4, 2)),
                StatusIs(absl::StatusCode::kCancelled));
    EXPECT_THAT(ended, SizeIs(2));
    EXPECT_EQ(pool.pending_now(), 0);
  }
  EXPECT_EQ(pool.prepared_now(), 0);
}

}  // namespace
}  // namespace tilewright::measure
