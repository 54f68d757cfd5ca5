// Every order of what clients, workers, time and crashes can do to a queue, for
// two tasks, two jobs and two workers, beside a model (queue_model.h): from
// every state that can be reached in a few steps every next step is taken, and
// must return and show the same as in the model.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "measure/jobs/job_queue.h"
#include "measure/jobs/queue_model.h"

namespace tilewright::measure {
namespace {

constexpr int64_t kLeaseNs = 10;
constexpr int64_t kStepNs = 6;  // two of them outlive a lease
constexpr int kMostLosses = 2;
constexpr int kMostJobs = 3;
constexpr char kOwner[] = "o";

JobQueueOptions Options() {
  JobQueueOptions options;
  options.name = "q";
  options.lease_ns = kLeaseNs;
  options.most_losses = kMostLosses;
  return options;
}

// The model, and what the workers and the clock know.
struct World {
  QueueModel model{kLeaseNs, kMostLosses};
  int64_t now_ns = 1000;
  int lease_of_a = 0, lease_of_b = 0;

  std::string Key() const { return model.Key(lease_of_a, lease_of_b, now_ns); }
};

std::unique_ptr<JobQueue> Open(const std::string& path, int64_t now_ns) {
  absl::StatusOr<std::unique_ptr<JobQueue>> queue =
      JobQueue::Open(path, Options(), now_ns);
  TW_EXPECT_OK(queue);
  return *std::move(queue);
}

// The file as it was, without what Open does for leases after a crash.
std::unique_ptr<JobQueue> OpenAsItWas(const std::string& path) {
  return Open(path, -kLeaseNs);
}

std::string Seen(JobQueue& queue) {
  std::string seen = absl::StrCat("leases ", *queue.Leases(), "\n");
  const absl::StatusOr<std::vector<JobStatus>> jobs = queue.Jobs(kOwner);
  TW_EXPECT_OK(jobs);
  for (const JobStatus& job : *jobs) {
    absl::StrAppend(&seen, "job ", job.spec.key, " ",
                    static_cast<int>(job.state), " ", job.tasks, " ",
                    job.leased, " ", job.ended, ":");
    EXPECT_THAT(queue.IsOver(job.id), IsOkAndHolds(job.over()));
    const absl::StatusOr<std::vector<TaskEvent>> events =
        queue.Events(kOwner, job.id, 0, 100);
    TW_EXPECT_OK(events);
    for (const TaskEvent& event : *events) {
      absl::StrAppend(&seen, " ", event.task, "=",
                      event.given_up ? "given up" : event.result);
    }
    absl::StrAppend(&seen, "\n");
  }
  return seen;
}

int64_t LatestJob(JobQueue& queue, const std::string& key) {
  const absl::StatusOr<std::vector<JobStatus>> jobs = queue.Jobs(kOwner);
  TW_EXPECT_OK(jobs);
  int64_t latest = 0;
  for (const JobStatus& job : *jobs) {
    if (job.spec.key == key) latest = job.id;
  }
  return latest;
}

std::string Name(int lease) { return absl::StrCat("q-", lease); }

// A step, done to both; false if it cannot be done now.
struct Step {
  std::string name;
  std::function<bool(World&, std::unique_ptr<JobQueue>&)> take;
};

Step Submit(const std::string& key, const std::vector<std::string>& tasks) {
  return {"submit " + key, [=](World& world, auto& queue) {
            if (world.model.jobs() >= kMostJobs) return false;
            world.model.Submit(key, tasks);
            JobSpec spec;
            spec.owner = kOwner;
            spec.key = key;
            spec.most_tasks = 10;
            const absl::StatusOr<JobStatus> job = queue->OpenJob(spec);
            TW_EXPECT_OK(job);
            std::vector<TaskSpec> specs;
            for (const std::string& task : tasks) {
              specs.push_back({task, "class", "group", "do " + task});
            }
            TW_EXPECT_OK(queue->AddTasks(kOwner, job->id, specs));
            return true;
          }};
}

Step Cancel(const std::string& key) {
  return {"cancel " + key, [=](World& world, auto& queue) {
            const int64_t job = LatestJob(*queue, key);
            if (job == 0) return false;
            world.model.Cancel(key);
            TW_EXPECT_OK(queue->CancelJob(kOwner, job));
            return true;
          }};
}

Step Lease(const std::string& worker, int World::*lease, int most) {
  return {worker + " leases", [=](World& world, auto& queue) {
            std::vector<std::string> expected, tasks;
            const int number = world.model.Lease(most, world.now_ns, expected);
            const absl::StatusOr<LeaseOffer> offer =
                queue->Lease(worker, "class", most, world.now_ns);
            TW_EXPECT_OK(offer);
            for (const LeasedTask& task : offer->tasks) {
              EXPECT_EQ(task.request, "do " + task.id);
              tasks.push_back(task.id);
            }
            EXPECT_EQ(tasks, expected);
            EXPECT_EQ(offer->name, number == 0 ? "" : Name(number));
            if (number != 0) world.*lease = number;
            return true;
          }};
}

Step Complete(const std::string& worker, int World::*lease,
              const std::string& task) {
  return {worker + " completes " + task, [=](World& world, auto& queue) {
            if (world.*lease == 0) return false;
            const std::string result = absl::StrCat(worker, " has done ", task);
            const Completion expected =
                world.model.Complete(world.*lease, task, result, world.now_ns);
            EXPECT_THAT(
                queue->Complete(Name(world.*lease), task, result, world.now_ns),
                IsOkAndHolds(expected));
            return true;
          }};
}

std::vector<Step> Steps() {
  std::vector<Step> steps = {Submit("J", {"t", "u"}), Submit("K", {"t"}),
                             Cancel("J"), Cancel("K")};
  steps.push_back({"close J", [](World& world, auto& queue) {
                     const int64_t job = LatestJob(*queue, "J");
                     if (job == 0) return false;
                     world.model.Close("J");
                     TW_EXPECT_OK(queue->CloseJob(kOwner, job));
                     return true;
                   }});
  steps.push_back(Lease("a", &World::lease_of_a, 2));
  steps.push_back(Lease("b", &World::lease_of_b, 1));
  for (const char* const task : {"t", "u"}) {
    steps.push_back(Complete("a", &World::lease_of_a, task));
    steps.push_back(Complete("b", &World::lease_of_b, task));
  }
  steps.push_back(
      {"a heartbeats", [](World& world, auto& queue) {
         if (world.lease_of_a == 0) return false;
         const char expected =
             world.model.Heartbeat(world.lease_of_a, world.now_ns);
         const absl::StatusOr<bool> wanted =
             queue->Heartbeat(Name(world.lease_of_a), world.now_ns);
         EXPECT_EQ(wanted.ok() ? (*wanted ? 'w' : 'u') : 'l', expected)
             << wanted.status();
         return true;
       }});
  for (const bool lost : {false, true}) {
    steps.push_back(
        {lost ? "b is lost" : "b gives back", [=](World& world, auto& queue) {
           if (world.lease_of_b == 0) return false;
           world.model.GiveBack(world.lease_of_b, lost, world.now_ns);
           TW_EXPECT_OK(
               queue->GiveBack(Name(world.lease_of_b), lost, world.now_ns));
           return true;
         }});
  }
  steps.push_back({"time passes", [](World& world, auto&) {
                     world.now_ns += kStepNs;
                     return true;
                   }});
  return steps;
}

// A file system in memory, where there is one: thousands of files are synced.
std::string Folder() {
  return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : testing::TempDir();
}

TEST(JobQueueModelTest, EveryOrderOfStepsGivesWhatTheModelGives) {
  const char* const asked = std::getenv("TILEWRIGHT_QUEUE_STEPS");
  const size_t most_steps = asked == nullptr ? 6 : std::atoi(asked);
  const std::string path =
      absl::StrCat(Folder(), "/tilewright_queue_", getpid(), ".db");
  unlink(path.c_str());  // of a process of that number that was killed
  struct Node {
    World world;
    std::string file;  // the bytes of the queue
    std::string steps;
    size_t depth;
  };
  std::deque<Node> nodes;
  World start;
  Open(path, start.now_ns);
  TW_ASSERT_OK_AND_ASSIGN(const std::string empty, ReadFile(path, 1 << 24));
  nodes.push_back({start, empty, "", 0});
  std::set<std::string> seen = {start.Key()};
  const std::vector<Step> steps = Steps();
  int64_t transitions = 0;
  for (; !nodes.empty(); nodes.pop_front()) {
    const Node& node = nodes.front();
    for (size_t s = 0; s <= steps.size(); ++s) {
      TW_ASSERT_OK(WriteFileAtomically(path, node.file));
      World world = node.world;
      const bool crash = s == steps.size();
      std::unique_ptr<JobQueue> queue =
          crash ? Open(path, world.now_ns) : OpenAsItWas(path);
      if (crash) world.model.Open(world.now_ns);
      if (!crash && !steps[s].take(world, queue)) continue;
      ++transitions;
      const std::string taken =
          node.steps + (crash ? "crash" : steps[s].name) + "; ";
      ASSERT_EQ(Seen(*queue), world.model.Seen()) << "after " << taken;
      ASSERT_FALSE(HasFailure()) << "after " << taken;
      queue.reset();
      if (node.depth + 1 >= most_steps || !seen.insert(world.Key()).second) {
        continue;
      }
      TW_ASSERT_OK_AND_ASSIGN(std::string file, ReadFile(path, 1 << 24));
      nodes.push_back({world, std::move(file), taken, node.depth + 1});
    }
  }
  unlink(path.c_str());
  RecordProperty("states", static_cast<int>(seen.size()));
  RecordProperty("transitions", static_cast<int>(transitions));
  std::printf("%zu states, %lld transitions\n", seen.size(),
              static_cast<long long>(transitions));
  EXPECT_GT(seen.size(), 100);
}

}  // namespace
}  // namespace tilewright::measure
