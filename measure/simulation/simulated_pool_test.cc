#include "measure/simulation/simulated_pool.h"

#include <vector>

#include "absl/status/status.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

using fake::Fault;
using Kind = PoolEvent::Kind;

// No outliers: every time is known.
SimulatedPoolOptions Exact() {
  SimulatedPoolOptions options;
  options.constants.outlier_share = 0;
  return options;
}

fake::FakeProgram Program(const std::vector<Fault>& faults) {
  fake::FakeProgram program;
  program.demand = {1, 1};
  for (const Fault fault : faults)
    program.candidates.push_back({1e9, 1e6, fault});
  return program;
}

PoolEvent MustWait(SimulatedPool& pool, Kind kind, int candidate) {
  absl::StatusOr<PoolEvent> event = pool.Wait();
  TW_EXPECT_OK(event);
  if (!event.ok()) return {};
  EXPECT_EQ(event->kind, kind);
  EXPECT_EQ(event->candidate, candidate);
  return *std::move(event);
}

// Adds and builds candidate 0, 1, ...; they are called so.
void AddAndBuild(SimulatedPool& pool, int n) {
  for (int i = 0; i < n; ++i) {
    TW_ASSERT_OK_AND_ASSIGN(const int id, pool.Add({}, SimulatedSchedule(i)));
    ASSERT_EQ(id, i);
    pool.Build(id);
  }
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(MustWait(pool, Kind::kBuilt, i).outcome, Measurement::OK);
  }
}

// Build 1 s; context 0.35 s; a launch of 5 us and an execution of 1.02 ms to
// verify, and as much for each of three.
TEST(SimulatedPoolTest, OneCandidateByHand) {
  const fake::FakeProgram program = Program({Fault::kNone});
  SimulatedPool pool(fake::KernelSetting(), &program, Exact());
  AddAndBuild(pool, 1);
  EXPECT_DOUBLE_EQ(pool.now_ns(), 1e9);
  pool.Prepare(0, 0);
  MustWait(pool, Kind::kPrepared, 0);
  EXPECT_DOUBLE_EQ(pool.now_ns(), 1.35e9);
  pool.Measure(0, AdaptiveEvaluatorOptions::Fixed(3), 4);
  const PoolEvent event = MustWait(pool, Kind::kMeasured, 0);
  EXPECT_NEAR(pool.now_ns(), 1.35e9 + 4 * 1.025e6, 1);
  ASSERT_EQ(event.latencies_ns.size(), 3);
  for (const double ns : event.latencies_ns) EXPECT_NEAR(ns, 1.02e6, 1);
  EXPECT_NEAR(event.duration_ns, 3 * 1.025e6, 1);
  EXPECT_TRUE(event.verification.verified());
  // Measured again it is verified already.
  const double before_ns = pool.now_ns();
  pool.Measure(0, AdaptiveEvaluatorOptions::Fixed(1), 4);
  MustWait(pool, Kind::kMeasured, 0);
  EXPECT_NEAR(pool.now_ns() - before_ns, 1.025e6, 1);
  EXPECT_THAT(pool.Wait(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(SimulatedPoolTest, EightBuildersShareTheBuilds) {
  const fake::FakeProgram program =
      Program(std::vector<Fault>(17, Fault::kNone));
  SimulatedPool pool(fake::KernelSetting(), &program, Exact());
  AddAndBuild(pool, 17);
  EXPECT_DOUBLE_EQ(pool.now_ns(), 3e9);
}

TEST(SimulatedPoolTest, AContextIsStartedOncePerWorkerOrPerCandidate) {
  const fake::FakeProgram program =
      Program({Fault::kNone, Fault::kNone, Fault::kNone});
  for (const bool per_candidate : {false, true}) {
    SimulatedPool pool(
        per_candidate ? fake::StartUpSetting() : fake::KernelSetting(),
        &program, Exact());
    AddAndBuild(pool, 3);
    const double begin_ns = pool.now_ns();
    for (int i = 0; i < 3; ++i) {
      pool.Prepare(i, 0);
      MustWait(pool, Kind::kPrepared, i);
      pool.Measure(i, AdaptiveEvaluatorOptions::Fixed(1), 4);
      MustWait(pool, Kind::kMeasured, i);
    }
    EXPECT_NEAR(pool.now_ns() - begin_ns,
                (per_candidate ? 3 : 1) * 0.35e9 + 6 * 1.025e6, 10);
  }
}

// Each measures 1.02 ms alone; two that fill the device 2 * 1.04.
TEST(SimulatedPoolTest, TwoAtATimeSlowEachOtherDown) {
  const fake::FakeProgram program = Program({Fault::kNone, Fault::kNone});
  SimulatedPool pool(fake::KernelSetting(), &program, Exact());
  AddAndBuild(pool, 2);
  for (const int i : {0, 1}) {
    pool.Prepare(i, 0);
    MustWait(pool, Kind::kPrepared, i);
  }
  for (const int i : {0, 1}) {
    pool.Measure(i, AdaptiveEvaluatorOptions::Fixed(9), 4);
  }
  const PoolEvent first = MustWait(pool, Kind::kMeasured, 0);
  const PoolEvent second = MustWait(pool, Kind::kMeasured, 1);
  EXPECT_NEAR(first.latencies_ns[4], 2.08e6, 1);
  EXPECT_NEAR(second.latencies_ns[4], 2.08e6, 1);
}

TEST(SimulatedPoolTest, EveryFaultHasItsOutcome) {
  struct Case {
    Fault fault;
    Kind fails_at;
    Measurement::Outcome outcome;
    double after_ns;  // being prepared or measured
    bool loses_context;
  };
  for (const Case& c : {
           Case{Fault::kCrash, Kind::kMeasured, Measurement::RUN_ERROR, 5e3,
                true},
           Case{Fault::kStickyError, Kind::kMeasured, Measurement::RUN_ERROR,
                1.025e6, true},
           Case{Fault::kWrongResult, Kind::kMeasured, Measurement::WRONG_ANSWER,
                1.025e6, false},
           Case{Fault::kOutOfMemory, Kind::kPrepared,
                Measurement::OUT_OF_MEMORY, 0.35e9, false},
           Case{Fault::kHang, Kind::kMeasured, Measurement::TIMEOUT, 4e9, true},
       }) {
    const fake::FakeProgram program = Program({c.fault, Fault::kNone});
    SimulatedPool pool(fake::KernelSetting(), &program, Exact());
    AddAndBuild(pool, 2);
    double before_ns = pool.now_ns();
    pool.Prepare(0, 0);
    if (c.fails_at == Kind::kMeasured) {
      MustWait(pool, Kind::kPrepared, 0);
      before_ns = pool.now_ns();
      pool.Measure(0, AdaptiveEvaluatorOptions::Fixed(60), 4);
    }
    EXPECT_EQ(MustWait(pool, c.fails_at, 0).outcome, c.outcome);
    EXPECT_NEAR(pool.now_ns() - before_ns, c.after_ns, 1);
    // The next one finds the context, or waits for a new one.
    before_ns = pool.now_ns();
    pool.Prepare(1, 0);
    MustWait(pool, Kind::kPrepared, 1);
    EXPECT_NEAR(pool.now_ns() - before_ns, c.loses_context ? 0.35e9 : 0, 1);
    pool.Measure(1, AdaptiveEvaluatorOptions::Fixed(1), 4);
    EXPECT_EQ(MustWait(pool, Kind::kMeasured, 1).outcome, Measurement::OK);
  }
}

// 60 executions of 0.2 s are no hang with a limit of 4 s.
TEST(SimulatedPoolTest, OnlyALackOfProgressIsATimeout) {
  fake::FakeProgram program = Program({Fault::kNone, Fault::kNone});
  program.candidates[0].base_latency_ns = 0.2e9;
  program.candidates[1].base_latency_ns = 4.1e9;
  SimulatedPool pool(fake::KernelSetting(), &program, Exact());
  AddAndBuild(pool, 2);
  for (const int i : {0, 1}) {
    pool.Prepare(i, 0);
    MustWait(pool, Kind::kPrepared, i);
    pool.Measure(i, AdaptiveEvaluatorOptions::Fixed(60), 4);
    EXPECT_EQ(MustWait(pool, Kind::kMeasured, i).outcome,
              i == 0 ? Measurement::OK : Measurement::TIMEOUT);
  }
}

TEST(SimulatedPoolTest, OutliersAreThreeTimesAsLong) {
  const fake::FakeProgram program = Program({Fault::kNone});
  SimulatedPool pool(fake::KernelSetting(), &program, {});
  AddAndBuild(pool, 1);
  pool.Prepare(0, 0);
  MustWait(pool, Kind::kPrepared, 0);
  pool.Measure(0, AdaptiveEvaluatorOptions::Fixed(10'000), 4);
  const PoolEvent event = MustWait(pool, Kind::kMeasured, 0);
  int outliers = 0;
  for (const double ns : event.latencies_ns) {
    const bool outlier = ns > 2e6;
    EXPECT_NEAR(ns, outlier ? 3.06e6 : 1.02e6, 1);
    outliers += outlier;
  }
  EXPECT_NEAR(outliers, 100, 30);
}

TEST(SimulatedPoolTest, OtherSchedulesAreRefused) {
  const fake::FakeProgram program = Program({Fault::kNone});
  SimulatedPool pool(fake::KernelSetting(), &program, Exact());
  EXPECT_THAT(pool.Add({}, SimulatedSchedule(1)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(pool.Add({}, sketch::ScheduleProto()),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace tilewright::measure
