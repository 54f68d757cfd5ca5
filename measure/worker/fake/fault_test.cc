// Many candidates in a row, good ones among those that fail in every way: no
// record is lost, each fault is classed right, and nothing is left behind.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "measure/parallel/parallel_measurer.h"
#include "measure/record/store.h"
#include "measure/record/workload_key.h"
#include "measure/worker/fake/fake_record.h"
#include "measure/worker/fake/fake_worker.h"
#include "measure/worker/fake/processes.h"
#include "measure/worker/pool/process_pool.h"

namespace tilewright::measure {
namespace {

using fake::BuildFault;
using fake::FakeSchedule;
using fake::Fault;

constexpr int kBatch = 50;
constexpr double kHangs = 0.05, kOtherFaults = 0.4;
constexpr double kLimitS = 0.2;
constexpr int kFactor = 3;

int Candidates() {
  const char* const text = std::getenv("TILEWRIGHT_FAULTY_CANDIDATES");
  return text == nullptr ? 300 : std::atoi(text);
}

struct Expected {
  FakeSchedule schedule;
  Measurement::Outcome outcome = Measurement::OK;
  int signal = 0;
};

// Before it is verified, while it is, and later.
int64_t DrawFaultAt(Random& random) { return 1 + random.Index(20); }

Expected Draw(int64_t id, Random& random) {
  Expected drawn;
  FakeSchedule& schedule = drawn.schedule;
  fake::FakeModule& module = schedule.module;
  schedule.id = id;
  module.factor = kFactor;
  module.latency_ns = 1000 + random.Index(100000);
  const double draw = random.Uniform();
  if (draw > kHangs + kOtherFaults) return drawn;
  module.fault_at = DrawFaultAt(random);
  if (draw < kHangs) {
    module.fault = Fault::kHang;
    drawn.outcome = Measurement::TIMEOUT;
    return drawn;
  }
  switch (random.Index(6)) {
    case 0:
      schedule.build_fault = BuildFault::kError;
      drawn.outcome = Measurement::BUILD_ERROR;
      break;
    case 1:
      schedule.build_fault = BuildFault::kCrash;
      drawn.outcome = Measurement::BUILD_ERROR;
      drawn.signal = SIGABRT;
      break;
    case 2: {
      constexpr int kSignals[] = {SIGSEGV, SIGILL, SIGFPE, SIGABRT, SIGBUS, 0};
      module.fault = Fault::kCrash;
      module.signal = drawn.signal = kSignals[random.Index(6)];
      drawn.outcome = Measurement::RUN_ERROR;
      break;
    }
    case 3:
      module.fault = Fault::kStickyError;
      drawn.outcome = Measurement::RUN_ERROR;
      break;
    case 4:
      module.fault = Fault::kWrongResult;
      module.fault_at = 1;  // later ones are not looked at
      drawn.outcome = Measurement::WRONG_ANSWER;
      break;
    case 5:
      module.fault = Fault::kOutOfMemory;
      drawn.outcome = Measurement::OUT_OF_MEMORY;
      break;
  }
  return drawn;
}

void MeasureAll(const std::string& backend, int candidates) {
  const int descriptors = fake::OpenDescriptors();
  const std::string path = testing::TempDir() + "/faults_" + backend +
                           std::to_string(getpid()) + ".db";
  TW_ASSERT_OK_AND_ASSIGN(const auto store, Store::Open(path));
  const WorkloadKey workload = MakeWorkloadKey(fake::FakeWorkload(64, kFactor));
  Random random(1);
  std::map<std::string, int> found;  // for people
  PoolStats stats;
  {
    ProcessPoolOptions options;
    options.backend = backend;
    options.workers = 3;
    options.verify_limit_s = kLimitS;
    options.progress_limit_override_s = kLimitS;
    TW_ASSERT_OK_AND_ASSIGN(const auto pool, ProcessPool::Create(options));
    ParallelMeasurerOptions how;
    how.repeats = AdaptiveEvaluatorOptions::Fixed(20);
    ParallelMeasurer measurer(pool.get(), how);
    for (int begin = 0; begin < candidates; begin += kBatch) {
      std::vector<Expected> batch;
      std::vector<sketch::ScheduleProto> schedules;
      for (int i = begin; i < std::min(begin + kBatch, candidates); ++i) {
        batch.push_back(Draw(i, random));
        schedules.push_back(batch.back().schedule.ToProto());
      }
      TW_ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> measurements,
                              measurer.Measure(workload, schedules));
      ASSERT_EQ(measurements.size(), batch.size());
      std::vector<Record> records;
      for (size_t i = 0; i < batch.size(); ++i) {
        const Measurement& measurement = measurements[i];
        const std::string what =
            "candidate " + std::to_string(batch[i].schedule.id) + ", fault " +
            std::to_string(static_cast<int>(batch[i].schedule.module.fault)) +
            " at " + std::to_string(batch[i].schedule.module.fault_at) + ": " +
            measurement.message();
        EXPECT_EQ(measurement.outcome(), batch[i].outcome) << what;
        EXPECT_EQ(measurement.signal(), batch[i].signal) << what;
        const bool ok = measurement.outcome() == Measurement::OK;
        EXPECT_EQ(measurement.fault(),
                  ok ? Measurement::FAULT_UNSPECIFIED : Measurement::CANDIDATE)
            << what;
        records.push_back(
            fake::FakeRecord(workload, schedules[i], measurement));
        ++found[Measurement::Outcome_Name(measurement.outcome())];
      }
      TW_ASSERT_OK(store->Append(records));
      // Each worker, each builder, and what verifies.
      EXPECT_LE(fake::WorkersOf(getpid()).size(), 3 + 2 + 3);
    }
    stats = pool->stats();
  }
  TW_ASSERT_OK_AND_ASSIGN(const StoreStats kept, store->Stats());
  EXPECT_EQ(kept.records, candidates);
  TW_EXPECT_OK(store->CheckIntegrity());
  EXPECT_TRUE(fake::WorkersEnd(getpid(), 10));
  for (const auto& [outcome, count] : found) {
    std::printf("%s: %d %s\n", backend.c_str(), count, outcome.c_str());
  }
  std::printf(
      "%s: restarts of workers %lld, of builders %lld, retried alone "
      "%lld\n",
      backend.c_str(), static_cast<long long>(stats.worker_restarts),
      static_cast<long long>(stats.builder_restarts),
      static_cast<long long>(stats.retried_alone));
  // The store's are still open.
  EXPECT_LE(fake::OpenDescriptors() - descriptors, 4);
}

TEST(FaultTest, VerifiedInAChild) { MeasureAll("fake", Candidates() / 2); }
TEST(FaultTest, VerifiedInTheWorker) {
  MeasureAll("fake_gpu", Candidates() / 2);
}

}  // namespace
}  // namespace tilewright::measure
