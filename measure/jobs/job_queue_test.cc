#include "measure/jobs/job_queue.h"

#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kSecond = 1'000'000'000;

std::string FreshPath() {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  const std::string path = testing::TempDir() + "/" + info->name() +
                           std::to_string(getpid()) + ".db";
  for (const char* suffix : {"", "-wal", "-shm"}) {
    unlink((path + suffix).c_str());
  }
  return path;
}

std::unique_ptr<JobQueue> MustOpen(const std::string& path,
                                   int64_t now_ns = 0) {
  JobQueueOptions options;
  options.name = "farm";
  absl::StatusOr<std::unique_ptr<JobQueue>> queue =
      JobQueue::Open(path, options, now_ns);
  TW_EXPECT_OK(queue);
  return *std::move(queue);
}

JobSpec Spec(const std::string& key, int priority = 0) {
  JobSpec spec;
  spec.owner = "ann";
  spec.key = key;
  spec.priority = priority;
  spec.most_tasks = 10;
  return spec;
}

TaskSpec Task(const std::string& id, const std::string& group = "conv",
              const std::string& device_class = "cpu") {
  return {id, device_class, group, "measure " + id};
}

int64_t MustSubmit(JobQueue& queue, const JobSpec& spec,
                   const std::vector<TaskSpec>& tasks) {
  const absl::StatusOr<JobStatus> job = queue.OpenJob(spec);
  TW_EXPECT_OK(job);
  TW_EXPECT_OK(queue.AddTasks(spec.owner, job->id, tasks));
  return job->id;
}

std::vector<std::string> LeaseIds(JobQueue& queue, int most,
                                  const std::string& device_class = "cpu") {
  const absl::StatusOr<LeaseOffer> offer =
      queue.Lease("worker", device_class, most, 0);
  TW_EXPECT_OK(offer);
  std::vector<std::string> ids;
  for (const LeasedTask& task : offer->tasks) ids.push_back(task.id);
  return ids;
}

// The way of a job, from the client and from the worker.
TEST(JobQueueTest, AJobIsSubmittedLeasedMeasuredAndSeen) {
  const std::string path = FreshPath();
  std::unique_ptr<JobQueue> queue = MustOpen(path);
  const int64_t job =
      MustSubmit(*queue, Spec("resnet"), {Task("1"), Task("2")});

  TW_ASSERT_OK_AND_ASSIGN(const LeaseOffer offer,
                          queue->Lease("host7", "cpu", /*most=*/8, kSecond));
  ASSERT_THAT(offer.tasks, SizeIs(2));
  EXPECT_EQ(offer.tasks[0].request, "measure 1");
  EXPECT_THAT(queue->Heartbeat(offer.name, 2 * kSecond), IsOkAndHolds(true));
  EXPECT_THAT(queue->Complete(offer.name, "1", "100 ns", 3 * kSecond),
              IsOkAndHolds(Completion::kAccepted));

  // The daemon is killed, and starts again a day later: the worker goes on.
  const int64_t later_ns = 86400 * kSecond;
  queue.reset();
  queue = MustOpen(path, later_ns);
  EXPECT_THAT(queue->Complete(offer.name, "1", "100 ns", later_ns),
              IsOkAndHolds(Completion::kRepeated));
  EXPECT_THAT(queue->Complete(offer.name, "2", "200 ns", later_ns),
              IsOkAndHolds(Completion::kAccepted));
  EXPECT_THAT(queue->Heartbeat(offer.name, later_ns),
              StatusIs(StatusCode::kNotFound, "all of it is done"));

  TW_ASSERT_OK_AND_ASSIGN(const std::vector<TaskEvent> events,
                          queue->Events("ann", job, 0, 10));
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].result, "100 ns");
  // A client that saw the first one goes on from there.
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<TaskEvent> rest,
                          queue->Events("ann", job, events[0].number, 10));
  ASSERT_THAT(rest, SizeIs(1));
  EXPECT_EQ(rest[0].task, "2");
  TW_ASSERT_OK(queue->CloseJob("ann", job));
  TW_ASSERT_OK_AND_ASSIGN(const JobStatus status, queue->Job("ann", job));
  EXPECT_TRUE(status.over());
}

TEST(JobQueueTest, WorkOfALostWorkerGoesToAnotherAndCountsOnce) {
  const std::unique_ptr<JobQueue> queue = MustOpen(FreshPath());
  const int64_t job = MustSubmit(*queue, Spec("k"), {Task("1"), Task("2")});
  TW_ASSERT_OK_AND_ASSIGN(const LeaseOffer lost,
                          queue->Lease("a", "cpu", 8, 0));
  TW_ASSERT_OK_AND_ASSIGN(const LeaseOffer next,
                          queue->Lease("b", "cpu", 8, 31 * kSecond));
  EXPECT_THAT(next.tasks, SizeIs(1)) << "a suspect is alone";
  EXPECT_NE(next.name, lost.name);
  // The lost worker was only slow.
  EXPECT_THAT(queue->Complete(lost.name, "1", "late", 32 * kSecond),
              IsOkAndHolds(Completion::kStale));
  EXPECT_THAT(queue->Complete(next.name, "1", "right", 33 * kSecond),
              IsOkAndHolds(Completion::kAccepted));
  EXPECT_THAT(queue->Complete(lost.name, "1", "late", 34 * kSecond),
              IsOkAndHolds(Completion::kStale));
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<TaskEvent> events,
                          queue->Events("ann", job, 0, 10));
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].result, "right");
}

TEST(JobQueueTest, ATaskThatLosesEveryWorkerIsGivenUp) {
  const std::unique_ptr<JobQueue> queue = MustOpen(FreshPath());
  const int64_t job = MustSubmit(*queue, Spec("k"), {Task("1")});
  for (int worker = 0; worker < 3; ++worker) {
    TW_ASSERT_OK_AND_ASSIGN(const LeaseOffer offer,
                            queue->Lease("w", "cpu", 8, 0));
    ASSERT_THAT(offer.tasks, SizeIs(1));
    TW_ASSERT_OK(queue->GiveBack(offer.name, /*lost=*/true, 0));
  }
  EXPECT_THAT(LeaseIds(*queue, 8), IsEmpty());
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<TaskEvent> events,
                          queue->Events("ann", job, 0, 10));
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_TRUE(events[0].given_up);
}

TEST(JobQueueTest, ALeaseHasOneGroupOfOneDeviceClass) {
  const std::unique_ptr<JobQueue> queue = MustOpen(FreshPath());
  MustSubmit(*queue, Spec("k"),
             {Task("1", "conv"), Task("2", "gemm"), Task("3", "conv"),
              Task("4", "conv", "gpu"), Task("5", "conv")});
  EXPECT_THAT(LeaseIds(*queue, 2), testing::ElementsAre("1", "3"));
  EXPECT_THAT(LeaseIds(*queue, 8), testing::ElementsAre("2"));
  EXPECT_THAT(LeaseIds(*queue, 8, "gpu"), testing::ElementsAre("4"));
  EXPECT_THAT(LeaseIds(*queue, 8, "hip"), IsEmpty());
}

TEST(JobQueueTest, TheLargestPriorityIsFirst) {
  const std::unique_ptr<JobQueue> queue = MustOpen(FreshPath());
  MustSubmit(*queue, Spec("low"), {Task("1"), Task("2")});
  MustSubmit(*queue, Spec("high", 5), {Task("3"), Task("2")});
  EXPECT_THAT(LeaseIds(*queue, 1), testing::ElementsAre("2")) << "both want it";
  EXPECT_THAT(LeaseIds(*queue, 1), testing::ElementsAre("3"));
  EXPECT_THAT(LeaseIds(*queue, 1), testing::ElementsAre("1"));
}

TEST(JobQueueTest, ABudgetAndAnOwnerAreKept) {
  const std::unique_ptr<JobQueue> queue = MustOpen(FreshPath());
  JobSpec spec = Spec("k");
  spec.most_tasks = 1;
  const int64_t job = MustSubmit(*queue, spec, {Task("1")});
  EXPECT_THAT(queue->AddTasks("ann", job, {Task("2"), Task("3")}),
              StatusIs(StatusCode::kResourceExhausted, "2 too many"));
  TW_EXPECT_OK(queue->AddTasks("ann", job, {Task("1")}));
  spec.most_tasks = 2;
  EXPECT_EQ(MustSubmit(*queue, spec, {Task("1"), Task("2")}), job);
  const auto not_found = StatusIs(StatusCode::kNotFound, "you have no job");
  EXPECT_THAT(queue->AddTasks("bob", job, {}), not_found);
  EXPECT_THAT(queue->CancelJob("bob", job), not_found);
  EXPECT_THAT(queue->Events("bob", job, 0, 1), not_found);
  EXPECT_THAT(queue->Jobs("bob"), IsOkAndHolds(IsEmpty()));
  TW_ASSERT_OK(queue->CancelJob("ann", job));
  EXPECT_THAT(queue->AddTasks("ann", job, {Task("1")}),
              StatusIs(StatusCode::kFailedPrecondition, "is cancelled"));
  EXPECT_THAT(LeaseIds(*queue, 8), IsEmpty());
}

TEST(JobQueueTest, AnIdThatMeansSomethingElseIsRefused) {
  const std::unique_ptr<JobQueue> queue = MustOpen(FreshPath());
  const int64_t job = MustSubmit(*queue, Spec("k"), {Task("1")});
  TaskSpec other = Task("1");
  other.request = "something else";
  EXPECT_THAT(queue->AddTasks("ann", job, {Task("2"), other}),
              StatusIs(StatusCode::kAlreadyExists));
  EXPECT_THAT(LeaseIds(*queue, 8), testing::ElementsAre("1"));
}

TEST(JobQueueTest, AFileOfSomethingElseIsRefused) {
  const std::string path = FreshPath();
  {
    TW_ASSERT_OK_AND_ASSIGN(
        const std::unique_ptr<Database> database,
        Database::Open(path, /*read_only=*/false, "", "other"));
    TW_ASSERT_OK(database->Execute("CREATE TABLE addresses (name TEXT)"));
  }
  EXPECT_THAT(JobQueue::Open(path, {}, 0),
              StatusIs(StatusCode::kInvalidArgument, "of something else"));
}

TEST(JobQueueTest, ResultsThatComeTogetherCountOneByOne) {
  const std::unique_ptr<JobQueue> queue = MustOpen(FreshPath());
  const int64_t job = MustSubmit(*queue, Spec("job"), {Task("1"), Task("2")});
  EXPECT_THAT(queue->WaitingTasks(), IsOkAndHolds(2));
  TW_ASSERT_OK_AND_ASSIGN(const LeaseOffer offer,
                          queue->Lease("host7", "cpu", /*most=*/8, kSecond));
  EXPECT_THAT(queue->WaitingTasks(), IsOkAndHolds(0));
  EXPECT_THAT(
      queue->CompleteAll({{offer.name, "1", "100 ns"},
                          {"farm-77", "2", "forged"},
                          {offer.name, "1", "100 ns"},
                          {offer.name, "2", "200 ns"}},
                         kSecond),
      IsOkAndHolds(ElementsAre(Completion::kAccepted, Completion::kStale,
                               Completion::kRepeated, Completion::kAccepted)));
  EXPECT_THAT(queue->IsOver(job), IsOkAndHolds(false));  // it is open
  TW_ASSERT_OK(queue->CloseJob("ann", job));
  EXPECT_THAT(queue->IsOver(job), IsOkAndHolds(true));
}

std::vector<std::string> Ids(
    const absl::StatusOr<std::vector<TaskEvent>>& events) {
  TW_EXPECT_OK(events);
  std::vector<std::string> ids;
  for (const TaskEvent& event : *events)
    ids.push_back(event.task + "=" + event.result);
  return ids;
}

TEST(JobQueueTest, AnOwnerFindsResultsOfAllItsJobs) {
  const auto queue = MustOpen(FreshPath());
  MustSubmit(*queue, Spec("one"), {Task("a"), Task("b", "pool")});
  MustSubmit(*queue, Spec("two"), {Task("a"), Task("c", "conv", "gpu")});
  JobSpec other = Spec("one");
  other.owner = "bob";
  MustSubmit(*queue, other, {Task("d"), Task("a")});
  for (const char* device_class : {"cpu", "gpu"}) {
    while (true) {
      TW_ASSERT_OK_AND_ASSIGN(const LeaseOffer offer,
                              queue->Lease("w", device_class, 10, kSecond));
      if (offer.tasks.empty()) break;
      for (const LeasedTask& task : offer.tasks) {
        TW_EXPECT_OK(
            queue->Complete(offer.name, task.id, "of " + task.id, kSecond));
      }
    }
  }
  EXPECT_THAT(Ids(queue->Results("ann", "", "", 0, 10)),
              ElementsAre("a=of a", "b=of b", "c=of c"));
  EXPECT_THAT(Ids(queue->Results("ann", "cpu", "", 0, 10)),
              ElementsAre("a=of a", "b=of b"));
  EXPECT_THAT(Ids(queue->Results("ann", "", "pool", 0, 10)),
              ElementsAre("b=of b"));
  EXPECT_THAT(Ids(queue->Results("bob", "", "", 0, 10)),
              ElementsAre("a=of a", "d=of d"));
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<TaskEvent> first,
                          queue->Results("ann", "", "", 0, 1));
  EXPECT_THAT(Ids(queue->Results("ann", "", "", first[0].number, 10)),
              ElementsAre("b=of b", "c=of c"));
}

TEST(JobQueueTest, DepositsAreKeptOnceForTheirOwner) {
  const std::string path = FreshPath();
  auto queue = MustOpen(path);
  TW_EXPECT_OK(queue->Deposit(
      "ann", {{"x", "cpu", "conv", "1"}, {"y", "gpu", "conv", "2"}}, 2));
  TW_EXPECT_OK(queue->Deposit("ann", {{"x", "cpu", "conv", "1"}}, 2));
  EXPECT_THAT(queue->Deposit("ann", {{"z", "cpu", "conv", "3"}}, 2),
              StatusIs(StatusCode::kResourceExhausted));
  queue.reset();
  queue = MustOpen(path);
  EXPECT_THAT(Ids(queue->Deposits("ann", "", "", 0, 10)),
              ElementsAre("x=1", "y=2"));
  EXPECT_THAT(Ids(queue->Deposits("ann", "gpu", "conv", 0, 10)),
              ElementsAre("y=2"));
  EXPECT_THAT(Ids(queue->Deposits("bob", "", "", 0, 10)), IsEmpty());
}

TEST(JobQueueTest, TheNewestJobsOfAllOwners) {
  const auto queue = MustOpen(FreshPath());
  MustSubmit(*queue, Spec("one"), {Task("a"), Task("b")});
  JobSpec other = Spec("two");
  other.owner = "bob";
  MustSubmit(*queue, other, {Task("b")});
  TW_ASSERT_OK_AND_ASSIGN(const LeaseOffer offer,
                          queue->Lease("w", "cpu", 1, kSecond));
  TW_EXPECT_OK(queue->Complete(offer.name, "a", "done", kSecond));
  TW_EXPECT_OK(queue->Lease("w", "cpu", 1, kSecond));
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<JobStatus> jobs,
                          queue->NewestJobs(10));
  ASSERT_THAT(jobs, SizeIs(2));
  EXPECT_EQ(jobs[0].spec.owner, "bob");
  EXPECT_EQ(jobs[1].tasks, 2);
  EXPECT_EQ(jobs[1].ended, 1);
  EXPECT_EQ(jobs[1].leased, 1);
  EXPECT_THAT(*queue->NewestJobs(1), SizeIs(1));
  EXPECT_EQ(*queue->OpenJobs(), 2);
  EXPECT_EQ(queue->leases_lost(), 0);
  TW_EXPECT_OK(queue->Expire(1000 * kSecond));
  EXPECT_EQ(queue->leases_lost(), 1);
}

// A queue as version 1 of the schema left it.
TEST(JobQueueTest, AnOlderQueueIsBroughtUpToDate) {
  const std::string path = FreshPath();
  const int64_t job =
      MustSubmit(*MustOpen(path), Spec("one"), {Task("a"), Task("b")});
  {
    TW_ASSERT_OK_AND_ASSIGN(
        const std::unique_ptr<Database> database,
        Database::Open(path, /*read_only=*/false, "", "job queue"));
    TW_ASSERT_OK(
        database->Execute("DROP TABLE deposits; PRAGMA user_version = 1"));
  }
  const auto queue = MustOpen(path);
  TW_ASSERT_OK_AND_ASSIGN(const JobStatus status, queue->Job("ann", job));
  EXPECT_EQ(status.tasks, 2);
  TW_EXPECT_OK(queue->Deposit("ann", {{"x", "cpu", "conv", "1"}}, 2));
}

}  // namespace
}  // namespace tilewright::measure
