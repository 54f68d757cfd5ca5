// kill -9 of a process that submits, leases and completes, at random moments.
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "measure/jobs/job_queue.h"
#include "measure/record/kill_writer.h"

namespace tilewright::measure {
namespace {

constexpr int kKills = 30;
constexpr char kOwner[] = "o";

absl::StatusOr<std::unique_ptr<JobQueue>> Open(const std::string& path) {
  return JobQueue::Open(path, {}, /*now_ns=*/0);
}

JobSpec Spec() {
  JobSpec spec;
  spec.owner = kOwner;
  spec.key = "all";
  spec.most_tasks = 100'000'000;
  return spec;
}

// Adds tasks three at a time, and completes what it leases; tells the number of
// each task whose completion was acknowledged.
absl::Status Work(const std::string& path, uint64_t first, int pipe) {
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<JobQueue> queue, Open(path));
  for (uint64_t number = first;; number += 3) {
    TW_ASSIGN_OR_RETURN(const JobStatus job, queue->OpenJob(Spec()));
    std::vector<TaskSpec> tasks;
    for (uint64_t task = number; task < number + 3; ++task) {
      tasks.push_back({absl::StrCat(task), "c", absl::StrCat(number), ""});
    }
    TW_RETURN_IF_ERROR(queue->AddTasks(kOwner, job.id, tasks));
    TW_ASSIGN_OR_RETURN(const LeaseOffer offer, queue->Lease("w", "c", 2, 0));
    for (const LeasedTask& task : offer.tasks) {
      TW_ASSIGN_OR_RETURN(
          const Completion completion,
          queue->Complete(offer.name, task.id, std::string(2000, 'r'), 0));
      if (completion != Completion::kAccepted) {
        return absl::InternalError("a result did not count");
      }
      uint64_t done = 0;
      if (!absl::SimpleAtoi(task.id, &done) ||
          write(pipe, &done, sizeof(done)) != sizeof(done)) {
        return absl::UnavailableError("nobody listens");
      }
    }
  }
}

TEST(JobQueueKillTest, AcknowledgedResultsAreThereOnceAndWorkGoesOn) {
  const std::string path =
      testing::TempDir() + "/killed_queue" + std::to_string(getpid()) + ".db";
  std::set<uint64_t> acknowledged;
  Random random(1);
  for (int round = 0; round < kKills; ++round) {
    const int before = static_cast<int>(random.UniformInt(0, 8));
    const int64_t delay_ns = random.UniformInt(0, 3'000'000);
    const uint64_t first = 1 + static_cast<uint64_t>(round) * 1'000'000;
    pid_t child = 0;
    KillWriter([&](int pipe) { return Work(path, first, pipe); }, before,
               delay_ns, acknowledged, child);
    if (HasFatalFailure()) return;
    TW_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<JobQueue> queue, Open(path));
    TW_ASSERT_OK_AND_ASSIGN(const JobStatus job, queue->OpenJob(Spec()));
    TW_ASSERT_OK_AND_ASSIGN(const std::vector<TaskEvent> events,
                            queue->Events(kOwner, job.id, 0, 1 << 30));
    EXPECT_EQ(static_cast<int64_t>(events.size()), job.ended);
    EXPECT_EQ(job.tasks % 3, 0) << "tasks were added in part";
    std::set<uint64_t> found;
    for (const TaskEvent& event : events) {
      uint64_t number = 0;
      ASSERT_TRUE(absl::SimpleAtoi(event.task, &number));
      EXPECT_TRUE(found.insert(number).second) << "doubled " << number;
      EXPECT_EQ(event.result, std::string(2000, 'r'));
    }
    for (const uint64_t number : acknowledged) {
      EXPECT_EQ(found.count(number), 1) << "lost " << number;
    }
    // What the killed one had leased comes back when its lease runs out.
    const int64_t later_ns = 1'000'000'000'000;
    TW_EXPECT_OK(queue->Expire(later_ns));
    EXPECT_THAT(queue->Leases(), IsOkAndHolds(0));
  }
  EXPECT_GT(acknowledged.size(), static_cast<size_t>(kKills));
  unlink(path.c_str());
}

}  // namespace
}  // namespace tilewright::measure
