// Measures candidates by a tuning daemon and its workers.
#ifndef TILEWRIGHT_TOOLS_DAEMON_DAEMON_MEASURER_H_
#define TILEWRIGHT_TOOLS_DAEMON_DAEMON_MEASURER_H_

#include <grpcpp/channel.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "measure/parallel/measurer.h"
#include "measure/record/record.pb.h"
#include "tools/daemon/client.h"
#include "tools/daemon/daemon.grpc.pb.h"

namespace tilewright::daemon {

struct DaemonJob {
  std::string key;  // the same job is found again by it
  std::string title;
  int priority = 0;
  int64_t most_tasks = 0;
  measure::DeviceKey device;  // whose times are wanted
  int32_t code_generation = 0;
  measure::Method::Cache cache = measure::Method::WARM;  // or FRESH_CONSTANTS
  // How long a daemon that is gone is waited for; then what is not there yet
  // fails as Unavailable.
  double patience_s = 60;
};

// One job at the daemon: every batch adds tasks to it, and waits for them.
// After a lost connection it goes on with the event after the last one that it
// saw. `wanted` of MeasureOptions is not asked: workers measure all that is
// built. Candidates that harmed too many workers have the fault INFRASTRUCTURE.
class DaemonMeasurer : public measure::Measurer {
 public:
  // Opens the job, or finds it again: then results of all its tasks are known.
  // FailedPrecondition: the daemon is of another version.
  static absl::StatusOr<std::unique_ptr<DaemonMeasurer>> Open(
      std::shared_ptr<grpc::Channel> channel, const DaemonJob& job);

  // No more candidates come.
  absl::Status Close();
  // What was not measured yet will not be.
  absl::Status Cancel();
  int64_t job_id() const { return job_id_; }

 protected:
  // Alone: Unimplemented, as nothing says which device it would be.
  absl::StatusOr<std::vector<measure::Measurement>> DoMeasure(
      const measure::MeasureBatch& batch) override;

 private:
  DaemonMeasurer(const std::shared_ptr<grpc::Channel>& channel,
                 const DaemonJob& job)
      : channel_(channel), stub_(Jobs::NewStub(channel)), job_(job) {}
  // With the job's patience.
  absl::Status Call(
      CallOptions options,
      const std::function<grpc::Status(grpc::ClientContext&)>& call);
  absl::StatusOr<std::vector<std::string>> Add(
      const measure::WorkloadKey& workload,
      absl::Span<const sketch::ScheduleProto> schedules);
  // Reads events until `enough`; OK also when the stream ends before.
  absl::Status Watch(const std::function<bool()>& enough);

  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<Jobs::Stub> stub_;
  const DaemonJob job_;
  int64_t job_id_ = 0;
  int64_t last_event_ = 0;
  std::map<std::string, measure::Measurement> results_;  // by task
};

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_DAEMON_MEASURER_H_
