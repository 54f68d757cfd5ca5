// The course of one job, made of its events: how its workloads became faster,
// and what failed.
#ifndef TILEWRIGHT_TOOLS_DAEMON_MONITORING_JOB_HISTORY_H_
#define TILEWRIGHT_TOOLS_DAEMON_MONITORING_JOB_HISTORY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "measure/jobs/job_types.h"
#include "measure/record/record.pb.h"

namespace tilewright::daemon {

struct WorkloadCurve {
  // A candidate that was better than all before it.
  struct Step {
    int64_t measured = 0;  // candidates of the workload until then, and it
    double best_ns = 0;    // median
  };
  std::string title;  // "Y f32[64, 32]": its result
  int64_t measured = 0;
  int64_t failed = 0;
  std::vector<Step> steps;
};

struct FailureKind {
  int64_t count = 0;
  std::string first_message;
};

class JobHistory {
 public:
  // The job's next event. One whose result is damaged counts as a failure.
  void Add(const measure::TaskEvent& event);

  int64_t last_event() const { return last_event_; }
  // By fingerprint.
  const std::map<std::string, WorkloadCurve>& curves() const { return curves_; }
  // By outcome: "TIMEOUT"; "GIVEN_UP", where too many workers were lost.
  const std::map<std::string, FailureKind>& failures() const {
    return failures_;
  }

 private:
  void Fail(const std::string& kind, const std::string& message);

  int64_t last_event_ = 0;
  std::map<std::string, WorkloadCurve> curves_;
  std::map<std::string, FailureKind> failures_;
};

// The result of a workload's graph, from its text: "Y f32[64, 32]".
std::string TitleOfWorkload(const std::string& text);

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_MONITORING_JOB_HISTORY_H_
