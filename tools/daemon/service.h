// The services of daemon.proto over a queue of jobs.
#ifndef TILEWRIGHT_TOOLS_DAEMON_SERVICE_H_
#define TILEWRIGHT_TOOLS_DAEMON_SERVICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "measure/jobs/job_types.h"
#include "measure/record/record.pb.h"
#include "tools/daemon/daemon.grpc.pb.h"
#include "tools/daemon/deliveries.h"
#include "tools/daemon/observer.h"
#include "tools/daemon/shared_queue.h"

namespace tilewright::daemon {

// What tasks of one lease have in common.
inline std::string TaskGroup(const std::string& workload_fingerprint,
                             measure::Method::Cache cache) {
  return cache == measure::Method::FRESH_CONSTANTS
             ? workload_fingerprint + " fresh"
             : workload_fingerprint;
}

struct ServiceLimits {
  int64_t most_open_jobs = 64;  // of one owner
  int64_t most_tasks_of_a_job = 1'000'000;
  int most_tasks_of_a_call = 4096;
  int most_tasks_of_a_lease = 64;
  double longest_wait_s = 10;
  int64_t most_records_added = 1'000'000;  // by one owner
};

// What clients ask for. A job belongs to who opened it (peer.h), and is not
// there for others. Both must outlive it.
class JobsService final : public Jobs::Service {
 public:
  JobsService(SharedQueue& queue, const ServiceLimits& limits,
              Observer& observer)
      : queue_(queue), limits_(limits), observer_(observer) {}

  grpc::Status OpenJob(grpc::ServerContext* context,
                       const OpenJobRequest* request, JobState* reply) override;
  grpc::Status AddTasks(grpc::ServerContext* context,
                        const AddTasksRequest* request,
                        AddTasksReply* reply) override;
  grpc::Status CloseJob(grpc::ServerContext* context, const JobRequest* request,
                        JobState* reply) override;
  grpc::Status CancelJob(grpc::ServerContext* context,
                         const JobRequest* request, JobState* reply) override;
  grpc::Status GetJob(grpc::ServerContext* context, const JobRequest* request,
                      JobState* reply) override;
  grpc::Status ListJobs(grpc::ServerContext* context,
                        const ListJobsRequest* request,
                        ListJobsReply* reply) override;
  grpc::Status Watch(grpc::ServerContext* context, const WatchRequest* request,
                     grpc::ServerWriter<WatchReply>* writer) override;
  grpc::Status Query(grpc::ServerContext* context, const QueryRequest* request,
                     grpc::ServerWriter<QueryReply>* writer) override;
  grpc::Status AddRecords(grpc::ServerContext* context,
                          const AddRecordsRequest* request,
                          AddRecordsReply* reply) override;

 private:
  // Tells of the job, too.
  grpc::Status Answer(const absl::StatusOr<measure::JobStatus>& job,
                      JobState* reply);

  SharedQueue& queue_;
  const ServiceLimits limits_;
  Observer& observer_;
};

// What workers ask for. A lease is of use to its worker alone, as far as
// certificates tell workers apart. What it is given must outlive it; `clock` is
// asked by many threads.
class WorkersService final : public Workers::Service {
 public:
  WorkersService(SharedQueue& queue, Clock& clock, int64_t lease_ns,
                 const ServiceLimits& limits, Observer& observer)
      : queue_(queue),
        clock_(clock),
        deliveries_(queue, clock),
        lease_ns_(lease_ns),
        limits_(limits),
        observer_(observer) {}

  grpc::Status Lease(grpc::ServerContext* context, const LeaseRequest* request,
                     LeaseReply* reply) override;
  grpc::Status Heartbeat(grpc::ServerContext* context,
                         const HeartbeatRequest* request,
                         HeartbeatReply* reply) override;
  grpc::Status Complete(grpc::ServerContext* context,
                        const CompleteRequest* request,
                        CompleteReply* reply) override;
  grpc::Status GiveBack(grpc::ServerContext* context,
                        const GiveBackRequest* request,
                        GiveBackReply* reply) override;

 private:
  // PermissionDenied if another worker has the lease.
  absl::Status CheckHolder(const grpc::ServerContext& context,
                           const std::string& lease);

  SharedQueue& queue_;
  Clock& clock_;
  Deliveries deliveries_;
  const int64_t lease_ns_;
  const ServiceLimits limits_;
  Observer& observer_;
};

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_SERVICE_H_
