// What a queue of jobs (job_queue.h) takes and tells.
#ifndef TILEWRIGHT_MEASURE_JOBS_JOB_TYPES_H_
#define TILEWRIGHT_MEASURE_JOBS_JOB_TYPES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::measure {

struct JobSpec {
  std::string owner;  // sees it; nobody else does
  std::string key;    // by which its owner finds it again
  std::string title;  // for people
  int priority = 0;   // the largest first
  int64_t most_tasks = 0;
};

struct JobStatus {
  enum class State : uint8_t {
    kOpen = 0,
    kClosed = 1,  // no more tasks come
    kCancelled = 2,
  };
  int64_t id = 0;
  JobSpec spec;
  State state = State::kOpen;
  int64_t tasks = 0;
  int64_t leased = 0;
  int64_t ended = 0;  // done or given up

  bool over() const {
    return state == State::kCancelled ||
           (state == State::kClosed && ended == tasks);
  }
};

struct TaskSpec {
  std::string id;
  std::string device_class;  // of the workers that may have it
  std::string group;  // tasks of one lease have the same; a workload, say
  std::string request;
};

// A task of a job that came to its end.
struct TaskEvent {
  int64_t number = 0;  // larger than those of all earlier events of the job
  std::string task;
  bool given_up = false;  // too many workers were lost with it
  std::string result;     // unless given up
};

// A result that is of no task.
struct DepositSpec {
  std::string id;
  std::string device_class, group;  // as a task's
  std::string result;
};

struct LeasedTask {
  std::string id, request;
};

struct LeaseOffer {
  std::string name;
  int64_t until_ns = 0;
  std::vector<LeasedTask> tasks;  // none: there is no work, and no lease
};

// What a worker brings.
struct Delivery {
  std::string lease, task, result;
};

enum class Completion : uint8_t {
  kAccepted,
  kRepeated,  // this very lease brought it before
  kStale,     // the lease is not, or not any more, the task's: not kept
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_JOBS_JOB_TYPES_H_
