// What a queue of jobs shall do, said once more in plain data: the model that
// its tests compare it with. One owner; tasks of one group and device class.
#ifndef TILEWRIGHT_MEASURE_JOBS_QUEUE_MODEL_H_
#define TILEWRIGHT_MEASURE_JOBS_QUEUE_MODEL_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "measure/jobs/job_types.h"

namespace tilewright::measure {

class QueueModel {
 public:
  QueueModel(int64_t lease_ns, int most_losses)
      : lease_ns_(lease_ns), most_losses_(most_losses) {}

  void Open(int64_t now_ns);
  // Opens the job with that key, if none is open, and adds the tasks.
  void Submit(const std::string& key, const std::vector<std::string>& tasks);
  void Close(const std::string& key);  // the latest job with that key
  void Cancel(const std::string& key);
  // The number of the lease, 0 for none, and what is in it.
  int Lease(int most, int64_t now_ns, std::vector<std::string>& tasks);
  // 'l'ost, 'w'anted, 'u'nwanted.
  char Heartbeat(int lease, int64_t now_ns);
  Completion Complete(int lease, const std::string& task,
                      const std::string& result, int64_t now_ns);
  void GiveBack(int lease, bool lost, int64_t now_ns);

  // All that can be seen from outside.
  std::string Seen() const;
  // Equal for states from which the same can follow. Leases `a` and `b` are
  // those that workers will name.
  std::string Key(int a, int b, int64_t now_ns) const;
  int jobs() const { return static_cast<int>(jobs_.size()); }

 private:
  enum class State : uint8_t { kWaiting, kLeased, kDone, kGivenUp };
  struct Task {
    int order = 0;
    State state = State::kWaiting;
    int lease = 0, losses = 0;
    std::string result;
  };
  struct Job {
    std::string key;
    JobStatus::State state = JobStatus::State::kOpen;
    std::map<std::string, int> events;  // by task; 0: not yet
    bool over() const;
  };
  Job* Latest(const std::string& key);
  bool Wanted(const std::string& task) const;
  void Tell(const std::string& task);
  void Expire(int64_t now_ns);
  void End(int lease, bool lost);
  void DropUnwanted();

  const int64_t lease_ns_;
  const int most_losses_;
  std::vector<Job> jobs_;
  std::map<std::string, Task> tasks_;
  std::map<int, int64_t> leases_;  // until
  int last_lease_ = 0, last_event_ = 0, last_order_ = 0;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_JOBS_QUEUE_MODEL_H_
