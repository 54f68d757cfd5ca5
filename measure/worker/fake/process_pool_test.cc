// The pool of real processes, one fault at a time.
#include "measure/worker/pool/process_pool.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "base/cancellation.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/record/workload_key.h"
#include "measure/worker/fake/fake_worker.h"
#include "measure/worker/fake/processes.h"

namespace tilewright::measure {
namespace {

using fake::BuildFault;
using fake::FakeSchedule;
using fake::Fault;
using ::testing::HasSubstr;
using Kind = PoolEvent::Kind;

constexpr int kFactor = 2;
constexpr int kTimeoutS = 60;
constexpr int kRepeats = 20;
// After verification, which runs it eight times at most.
constexpr int64_t kLater = 12;

FakeSchedule Good(int64_t id = 0) {
  FakeSchedule schedule;
  schedule.module.factor = kFactor;
  schedule.id = id;
  return schedule;
}

FakeSchedule Faulty(Fault fault, int64_t fault_at, int signal = 0) {
  FakeSchedule schedule = Good(1000);
  schedule.module.fault = fault;
  schedule.module.fault_at = fault_at;
  schedule.module.signal = signal;
  return schedule;
}

// With both ways of verifying.
class ProcessPoolTest : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<ProcessPool> Pool(ProcessPoolOptions options = {}) {
    options.backend = GetParam();
    absl::StatusOr<std::unique_ptr<ProcessPool>> pool =
        ProcessPool::Create(options);
    EXPECT_THAT(pool.status(), IsOk());
    return *std::move(pool);
  }
  bool verifies_in_child() const { return GetParam() == std::string("fake"); }

  static int Add(ProcessPool& pool, const FakeSchedule& schedule) {
    const absl::StatusOr<int> id = pool.Add(
        MakeWorkloadKey(fake::FakeWorkload(64, kFactor)), schedule.ToProto());
    EXPECT_THAT(id.status(), IsOk());
    return *id;
  }
  static PoolEvent Next(ProcessPool& pool) {
    const absl::StatusOr<PoolEvent> event = pool.Wait();
    EXPECT_THAT(event.status(), IsOk());
    return event.ok() ? *event : PoolEvent();
  }
  // The whole way of one candidate, as far as it goes.
  static PoolEvent Pass(ProcessPool& pool, const FakeSchedule& schedule) {
    const int id = Add(pool, schedule);
    pool.Build(id);
    PoolEvent event = Next(pool);
    if (event.outcome == Measurement::OK) {
      pool.Prepare(id, 0);
      event = Next(pool);
    }
    if (event.outcome == Measurement::OK) {
      pool.Measure(id, AdaptiveEvaluatorOptions::Fixed(kRepeats), kTimeoutS);
      event = Next(pool);
    }
    EXPECT_EQ(event.candidate, id);
    pool.Forget(id);
    return event;
  }
  static void ExpectGood(const PoolEvent& event) {
    EXPECT_EQ(event.kind, Kind::kMeasured);
    EXPECT_EQ(event.outcome, Measurement::OK) << event.message;
    EXPECT_EQ(event.latencies_ns.size(), kRepeats);
    EXPECT_GE(event.executions, kRepeats);
    EXPECT_TRUE(event.verification.verified());
  }
};

INSTANTIATE_TEST_SUITE_P(Verified, ProcessPoolTest,
                         testing::Values("fake", "fake_gpu"),
                         [](const auto& info) { return info.param; });

TEST_P(ProcessPoolTest, MeasuresAGoodCandidate) {
  const auto pool = Pool();
  ExpectGood(Pass(*pool, Good()));
  EXPECT_EQ(pool->stats().worker_restarts, 0);
  EXPECT_EQ(pool->method().timer(), Method::DEVICE_EVENTS);
  EXPECT_EQ(pool->method().cache(), Method::WARM);
  EXPECT_EQ(pool->method().threads(), 1);
  EXPECT_FALSE(pool->confinement().empty());
}

TEST_P(ProcessPoolTest, LatenciesAreTheDevices) {
  ProcessPoolOptions options;
  options.method.set_cache(Method::COLD);
  const auto pool = Pool(options);
  FakeSchedule slow = Good();
  slow.module.latency_ns = 5000000;
  const PoolEvent event = Pass(*pool, slow);
  ExpectGood(event);
  EXPECT_EQ(event.executions, kRepeats);
  for (const double ns : event.latencies_ns) {
    EXPECT_GT(ns, 4.5e6);
    EXPECT_LT(ns, 16e6);
  }
  EXPECT_EQ(pool->method().cache(), Method::COLD);
}

TEST_P(ProcessPoolTest, ShortExecutionsAreManyInOneSample) {
  const auto pool = Pool();
  const PoolEvent event = Pass(*pool, Good());
  EXPECT_GT(event.executions, 20 * kRepeats);
}

TEST_P(ProcessPoolTest, BuildsThatFailAreEvents) {
  ProcessPoolOptions options;
  options.build_limit_s = 0.3;
  options.builders = 1;
  const auto pool = Pool(options);
  const std::pair<BuildFault, const char*> cases[] = {
      {BuildFault::kError, "cannot be built"},
      {BuildFault::kCrash, "died of Aborted"},
      {BuildFault::kHang, "not built within 0.3 s"}};
  for (const auto& [fault, message] : cases) {
    FakeSchedule schedule = Good();
    schedule.build_fault = fault;
    const PoolEvent event = Pass(*pool, schedule);
    EXPECT_EQ(event.kind, Kind::kBuilt);
    EXPECT_EQ(event.outcome, Measurement::BUILD_ERROR);
    EXPECT_EQ(event.fault, Measurement::CANDIDATE);
    EXPECT_EQ(event.signal, fault == BuildFault::kCrash ? SIGABRT : 0);
    EXPECT_THAT(event.message, HasSubstr(message));
  }
  EXPECT_EQ(pool->stats().builder_restarts, 2);
}

TEST_P(ProcessPoolTest, CrashesAreFoundWhileVerifyingAndLater) {
  const auto pool = Pool();
  for (const int signal : {SIGSEGV, SIGILL, SIGFPE, SIGABRT}) {
    for (const int64_t at : {int64_t{1}, kLater}) {
      const PoolEvent event = Pass(*pool, Faulty(Fault::kCrash, at, signal));
      EXPECT_EQ(event.outcome, Measurement::RUN_ERROR);
      EXPECT_EQ(event.fault, Measurement::CANDIDATE);
      EXPECT_EQ(event.signal, signal) << "at " << at << ": " << event.message;
      EXPECT_EQ(event.alone, true);
    }
  }
  ExpectGood(Pass(*pool, Good()));
}

TEST_P(ProcessPoolTest, AnExitIsNoSuccess) {
  const auto pool = Pool();
  for (const int64_t at : {int64_t{1}, kLater}) {
    const PoolEvent event = Pass(*pool, Faulty(Fault::kCrash, at));
    EXPECT_EQ(event.outcome, Measurement::RUN_ERROR);
    EXPECT_EQ(event.fault, Measurement::CANDIDATE);
    EXPECT_THAT(event.message, HasSubstr("exit status 0"));
  }
}

TEST_P(ProcessPoolTest, HangsEndAtTheirLimit) {
  ProcessPoolOptions options;
  options.verify_limit_s = options.progress_limit_override_s = 0.3;
  const auto pool = Pool(options);
  for (const int64_t at : {int64_t{1}, kLater}) {
    const PoolEvent event = Pass(*pool, Faulty(Fault::kHang, at));
    EXPECT_EQ(event.outcome, Measurement::TIMEOUT);
    EXPECT_EQ(event.fault, Measurement::CANDIDATE);
    EXPECT_EQ(event.signal, 0);
  }
}

TEST_P(ProcessPoolTest, AStickyErrorCostsAWorkerAndIsTheCandidates) {
  const auto pool = Pool();
  const PoolEvent event = Pass(*pool, Faulty(Fault::kStickyError, kLater));
  EXPECT_EQ(event.outcome, Measurement::RUN_ERROR);
  EXPECT_EQ(event.fault, Measurement::CANDIDATE);
  EXPECT_THAT(event.message, HasSubstr("context is lost"));
  EXPECT_EQ(pool->stats().worker_restarts, 1);
  ExpectGood(Pass(*pool, Good()));
}

TEST_P(ProcessPoolTest, WrongResultsAndMissingMemoryCostNoWorker) {
  const auto pool = Pool();
  PoolEvent event = Pass(*pool, Faulty(Fault::kWrongResult, 1));
  EXPECT_EQ(event.outcome, Measurement::WRONG_ANSWER);
  EXPECT_THAT(event.message, HasSubstr("output 'y'"));
  event = Pass(*pool, Faulty(Fault::kOutOfMemory, 1));
  EXPECT_EQ(event.kind, Kind::kPrepared);
  EXPECT_EQ(event.outcome, Measurement::OUT_OF_MEMORY);
  EXPECT_EQ(pool->stats().worker_restarts, 0);
}

TEST_P(ProcessPoolTest, WhatWasBuiltAndVerifiedStaysSo) {
  const auto pool = Pool();
  // It would be found wrong if it were verified again.
  const int id = Add(*pool, Good());
  pool->Build(id);
  (void)Next(*pool);
  pool->Prepare(id, 0);
  (void)Next(*pool);
  for (int i = 0; i < 3; ++i) {
    pool->Measure(id, AdaptiveEvaluatorOptions::Fixed(kRepeats), kTimeoutS);
    ExpectGood(Next(*pool));
  }
  pool->Release(id);
  ExpectGood(Pass(*pool, Good()));
}

// A candidate that is prepared or measured while another takes a worker down.
TEST_P(ProcessPoolTest, TheInnocentAreNotBlamed) {
  ProcessPoolOptions options;
  options.workers = 2;
  const auto pool = Pool(options);
  std::vector<int> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(Add(*pool, Good(i)));
  const int crashes = Add(*pool, Faulty(Fault::kCrash, kLater, SIGSEGV));
  for (const int id : ids) pool->Build(id);
  pool->Build(crashes);
  for (size_t i = 0; i <= ids.size(); ++i) (void)Next(*pool);
  // Kept in the workers that are lost.
  for (size_t i = 0; i < ids.size(); ++i) {
    const int id = ids[i];
    pool->Prepare(id, static_cast<int>(i % 2));
    (void)Next(*pool);
    pool->Measure(id, AdaptiveEvaluatorOptions::Fixed(kRepeats), kTimeoutS);
    ExpectGood(Next(*pool));
  }
  pool->Prepare(crashes, 0);
  (void)Next(*pool);
  pool->Measure(crashes, AdaptiveEvaluatorOptions::Fixed(kRepeats), kTimeoutS);
  for (const int id : ids) {
    pool->Measure(id, AdaptiveEvaluatorOptions::Fixed(kRepeats), kTimeoutS);
  }
  for (size_t i = 0; i <= ids.size(); ++i) {
    const PoolEvent event = Next(*pool);
    if (event.candidate != crashes) {
      ExpectGood(event);
      continue;
    }
    EXPECT_EQ(event.outcome, Measurement::RUN_ERROR);
    EXPECT_EQ(event.signal, SIGSEGV);
    EXPECT_TRUE(event.alone);
  }
  EXPECT_EQ(pool->stats().retried_alone, 1);
  EXPECT_EQ(pool->stats().worker_restarts, 2);
}

TEST_P(ProcessPoolTest, WhoeverKillsAWorkerIsNotTheCandidate) {
  ProcessPoolOptions options;
  options.workers = 1;
  const auto pool = Pool(options);
  const PoolEvent event = Pass(*pool, Faulty(Fault::kCrash, kLater, SIGKILL));
  EXPECT_EQ(event.outcome, Measurement::RUN_ERROR);
  EXPECT_EQ(event.fault, Measurement::INFRASTRUCTURE);
  EXPECT_EQ(event.signal, SIGKILL);
  EXPECT_EQ(pool->stats().worker_restarts, 2);
  // Once is no harm.
  const int id = Add(*pool, Good());
  pool->Build(id);
  (void)Next(*pool);
  pool->Prepare(id, 0);
  (void)Next(*pool);
  for (const pid_t worker : fake::WorkersOf(getpid())) kill(worker, SIGKILL);
  pool->Measure(id, AdaptiveEvaluatorOptions::Fixed(kRepeats), kTimeoutS);
  ExpectGood(Next(*pool));
}

TEST_P(ProcessPoolTest, ADeviceThatDoesNotComeBackIsToBlame) {
  const std::string lost =
      testing::TempDir() + "/lost_" + GetParam() + std::to_string(getpid());
  ProcessPoolOptions options;
  options.backend_options = lost;
  const auto pool = Pool(options);
  ExpectGood(Pass(*pool, Good()));
  std::fclose(std::fopen(lost.c_str(), "w"));
  const PoolEvent event = Pass(*pool, Faulty(Fault::kStickyError, kLater));
  EXPECT_EQ(event.outcome, Measurement::RUN_ERROR);
  EXPECT_EQ(event.fault, Measurement::DEVICE);
  EXPECT_THAT(event.message, HasSubstr("the fake device is lost"));
  EXPECT_THAT(pool->Add({}, {}).status(),
              StatusIs(absl::StatusCode::kUnavailable, "device is lost"));
  EXPECT_THAT(ProcessPool::Create([&] {
                options.backend = GetParam();
                return options;
              }())
                  .status(),
              StatusIs(absl::StatusCode::kUnavailable, "device is lost"));
  std::remove(lost.c_str());
}

TEST_P(ProcessPoolTest, ABackendThatIsNotOfferedIsAnError) {
  ProcessPoolOptions options;
  options.backend = "none";
  EXPECT_THAT(ProcessPool::Create(options).status(),
              StatusIs(absl::StatusCode::kUnavailable, "no backend 'none'"));
}

TEST_P(ProcessPoolTest, LeavesNothingBehind) {
  const int descriptors = fake::OpenDescriptors();
  {
    const auto pool = Pool();
    ExpectGood(Pass(*pool, Good()));
    EXPECT_FALSE(fake::WorkersOf(getpid()).empty());
    // One hangs at its end.
    const int id = Add(*pool, Faulty(Fault::kHang, kLater));
    pool->Build(id);
    (void)Next(*pool);
    pool->Prepare(id, 0);
    (void)Next(*pool);
    pool->Measure(id, AdaptiveEvaluatorOptions::Fixed(kRepeats), kTimeoutS);
  }
  EXPECT_TRUE(fake::WorkersEnd(getpid(), 10));
  EXPECT_EQ(fake::OpenDescriptors(), descriptors);
}

TEST_P(ProcessPoolTest, WhatIsAbandonedEndsAtOnceAndWorkersGoOn) {
  ProcessPoolOptions options;
  options.workers = 2;
  options.builders = 1;
  const auto pool = Pool(options);
  const int hangs = Add(*pool, Faulty(Fault::kHang, kLater));
  const int good = Add(*pool, Good(1));
  FakeSchedule slow_build = Good(2);
  slow_build.build_fault = BuildFault::kHang;
  const int unbuilt = Add(*pool, slow_build), queued = Add(*pool, Good(3));
  for (const int id : {hangs, good}) {
    pool->Build(id);
    (void)Next(*pool);
    pool->Prepare(id, 0);
    (void)Next(*pool);
  }
  pool->Build(unbuilt);
  pool->Build(queued);
  for (const int id : {hangs, good}) {
    pool->Measure(id, AdaptiveEvaluatorOptions::Fixed(kRepeats), kTimeoutS);
  }
  Cancellation cancellation;
  cancellation.Cancel();
  EXPECT_THAT(pool->WaitUnless(cancellation),
              StatusIs(absl::StatusCode::kCancelled));
  for (const int id : {hangs, unbuilt, queued}) {
    pool->Abandon(id);
    const PoolEvent event = Next(*pool);
    EXPECT_EQ(event.candidate, id);
    EXPECT_EQ(event.outcome, Measurement::NOT_MEASURED);
    EXPECT_EQ(event.kind, id == hangs ? Kind::kMeasured : Kind::kBuilt);
    pool->Forget(id);
  }
  // It waited in the worker that was lost.
  const PoolEvent event = Next(*pool);
  EXPECT_EQ(event.candidate, good);
  ExpectGood(event);
  pool->Abandon(good);  // nothing is under way
  EXPECT_EQ(pool->stats().retried_alone, 0);
}

// Its limit of time stands still meanwhile, and goes on afterwards.
TEST_P(ProcessPoolTest, BuildersAreStoppedWhileACandidateIsExecuted) {
  ProcessPoolOptions options;
  options.workers = options.builders = options.cores = 1;
  options.build_limit_s = 3;
  options.progress_limit_override_s = 1;
  const auto pool = Pool(options);
  const int hangs = Add(*pool, Faulty(Fault::kHang, kLater));
  pool->Build(hangs);
  (void)Next(*pool);
  pool->Prepare(hangs, 0);
  (void)Next(*pool);
  FakeSchedule slow_build = Good(2);
  slow_build.build_fault = BuildFault::kHang;
  const int unbuilt = Add(*pool, slow_build);
  pool->Measure(hangs, AdaptiveEvaluatorOptions::Fixed(kRepeats), kTimeoutS);
  pool->Build(unbuilt);
  PoolEvent built, measured;
  for (int i = 0; i < 2; ++i) {
    const PoolEvent event = Next(*pool);
    (event.kind == Kind::kBuilt ? built : measured) = event;
  }
  EXPECT_EQ(measured.outcome, Measurement::TIMEOUT);
  EXPECT_EQ(built.outcome, Measurement::BUILD_ERROR);
  EXPECT_THAT(built.message, HasSubstr("not built within 3 s"));
  EXPECT_GE(pool->stats().builder_pauses, 1);
  ExpectGood(Pass(*pool, Good(3)));
}

// No time at all: a few executions, which is less than a micro-batch. The
// device says that they take 5 ms, so that workers look after every fourth.
TEST_P(ProcessPoolTest, ExecutionsEndWhenTheirTimeIsOver) {
  const auto pool = Pool();
  FakeSchedule slow = Good();
  slow.module.latency_ns = 5000000;
  const int id = Add(*pool, slow);
  pool->Build(id);
  (void)Next(*pool);
  pool->Prepare(id, 0);
  (void)Next(*pool);
  AdaptiveEvaluatorOptions repeats = AdaptiveEvaluatorOptions::Fixed(500);
  repeats.most_seconds = 0;
  pool->Measure(id, repeats, kTimeoutS);
  const PoolEvent event = Next(*pool);
  EXPECT_EQ(event.outcome, Measurement::OK) << event.message;
  EXPECT_GE(event.latencies_ns.size(), 3);
  EXPECT_LE(event.latencies_ns.size(), 7);
}

TEST_P(ProcessPoolTest, WhatIsTooSlowIsExecutedOnce) {
  const auto pool = Pool();
  FakeSchedule slow = Good();
  slow.module.latency_ns = 5000000;
  const int id = Add(*pool, slow);
  pool->Build(id);
  (void)Next(*pool);
  AdaptiveEvaluatorOptions repeats = AdaptiveEvaluatorOptions::Fixed(10);
  for (const double give_up_above_ns : {1e6, 1e9}) {
    pool->Prepare(id, 0);
    (void)Next(*pool);
    repeats.give_up_above_ns = give_up_above_ns;
    pool->Measure(id, repeats, kTimeoutS);
    const PoolEvent event = Next(*pool);
    EXPECT_EQ(event.outcome, Measurement::OK) << event.message;
    EXPECT_EQ(event.latencies_ns.size(), give_up_above_ns == 1e6 ? 1 : 10);
    pool->Release(id);
  }
}

}  // namespace
}  // namespace tilewright::measure
