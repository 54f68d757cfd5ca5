// kill -9 of a process that measures with real workers, at random moments: what
// it recorded as each result came is there, and its workers end with it.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "measure/parallel/parallel_measurer.h"
#include "measure/record/kill_writer.h"
#include "measure/record/store.h"
#include "measure/record/workload_key.h"
#include "measure/worker/fake/fake_record.h"
#include "measure/worker/fake/fake_worker.h"
#include "measure/worker/fake/processes.h"
#include "measure/worker/pool/process_pool.h"

namespace tilewright::measure {
namespace {

constexpr int kBatch = 6;
constexpr double kLimitS = 30;  // for workers to end in

// Measures, and appends each result when it comes, until it is killed; tells
// the number of each that was acknowledged. Some candidates crash, one in each
// batch hangs.
absl::Status MeasureForEver(const std::string& path, uint64_t first,
                            int acknowledgements) {
  absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(path);
  if (!store.ok()) return store.status();
  ProcessPoolOptions options;
  options.backend = first % 2 == 0 ? "fake" : "fake_gpu";
  options.verify_limit_s = options.progress_limit_override_s = 0.1;
  absl::StatusOr<std::unique_ptr<ProcessPool>> pool =
      ProcessPool::Create(options);
  if (!pool.ok()) return pool.status();
  ParallelMeasurerOptions how;
  how.repeats = AdaptiveEvaluatorOptions::Fixed(20);
  ParallelMeasurer measurer(pool->get(), how);
  const WorkloadKey workload = MakeWorkloadKey(fake::FakeWorkload(64, 2));
  for (uint64_t batch = first;; batch += kBatch) {
    std::vector<sketch::ScheduleProto> schedules;
    for (int i = 0; i < kBatch; ++i) {
      fake::FakeSchedule schedule;
      schedule.id = static_cast<int64_t>(batch) + i;
      schedule.module.factor = 2;
      schedule.module.fault_at = 12;
      if (i == 3) schedule.module.fault = fake::Fault::kHang;
      if (i == 4) schedule.module.fault = fake::Fault::kCrash;
      schedule.module.signal = SIGSEGV;
      schedules.push_back(schedule.ToProto());
    }
    absl::Status kept;
    MeasureOptions options;
    options.on_result = [&](int index, const Measurement& measurement) {
      const size_t i = static_cast<size_t>(index);
      const uint64_t number = batch + i;
      Record record = fake::FakeRecord(workload, schedules[i], measurement);
      record.set_seed(number);
      kept.Update((*store)->Append(record));
      if (kept.ok() &&
          write(acknowledgements, &number, sizeof(number)) != sizeof(number)) {
        kept = absl::UnavailableError("nobody listens");
      }
    };
    const absl::Status measured =
        measurer.Measure(workload, schedules, options).status();
    if (!measured.ok()) return measured;
    if (!kept.ok()) return kept;
  }
}

TEST(KillTest, AcknowledgedRecordsAreThereAndWorkersAreNot) {
  const char* const asked = std::getenv("TILEWRIGHT_KILLS");
  const int kills = asked == nullptr ? 20 : std::atoi(asked);
  const std::string path =
      testing::TempDir() + "/killed" + std::to_string(getpid()) + ".db";
  std::set<uint64_t> acknowledged;
  Random random(1);
  for (int round = 0; round < kills; ++round) {
    const int before = static_cast<int>(random.UniformInt(0, kBatch));
    const int64_t delay_ns = random.UniformInt(0, 200'000) * 1000;
    const uint64_t first = static_cast<uint64_t>(round) * 1'000'001;
    pid_t child = 0;
    KillWriter([&](int pipe) { return MeasureForEver(path, first, pipe); },
               before, delay_ns, acknowledged, child);
    if (HasFatalFailure()) return;
    EXPECT_TRUE(fake::WorkersEnd(child, kLimitS)) << "orphans";
    TW_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Store> store,
                            Store::Open(path));
    std::map<uint64_t, int> found;
    TW_ASSERT_OK(store->ForEach({}, [&](const Record& record) {
      ++found[record.seed()];
      return absl::OkStatus();
    }));
    for (const auto& [number, records] : found) {
      EXPECT_EQ(records, 1) << "candidate " << number;
    }
    for (const uint64_t number : acknowledged) {
      EXPECT_EQ(found.count(number), 1) << "lost candidate " << number;
    }
    TW_EXPECT_OK(store->CheckIntegrity());
  }
  EXPECT_GE(acknowledged.size(), static_cast<size_t>(kills / 4));
  unlink(path.c_str());
}

}  // namespace
}  // namespace tilewright::measure
