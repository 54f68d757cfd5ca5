// Whoever looks on at a server: pages, logs and metrics are made of what it is
// told. A server without one is the same server.
#ifndef TILEWRIGHT_TOOLS_DAEMON_OBSERVER_H_
#define TILEWRIGHT_TOOLS_DAEMON_OBSERVER_H_

#include <grpcpp/support/status.h>

#include <string>

#include "absl/strings/string_view.h"
#include "measure/jobs/job_types.h"
#include "measure/record/record.pb.h"

namespace tilewright::daemon {

// Called by many threads at a time, after what it is told of is on the disk. It
// has to return soon, and must not call the server.
class Observer {
 public:
  virtual ~Observer() = default;

  // A call has ended: "/tilewright.daemon.Jobs/Watch". Also one that was
  // refused before anybody served it.
  virtual void OnCall(absl::string_view method, const grpc::Status& status) = 0;
  // A job was opened (or found again), closed or cancelled.
  virtual void OnJob(const measure::JobStatus& job) = 0;
  // A worker asked for work. No tasks: there was none for it.
  virtual void OnLease(const std::string& worker,
                       const std::string& device_class,
                       const measure::LeaseOffer& offer) = 0;
  virtual void OnHeartbeat(const std::string& lease) = 0;
  virtual void OnResult(const measure::Record& record,
                        measure::Completion completion) = 0;
  // `lost`: something happened to the worker, which may be a task's fault.
  virtual void OnGiveBack(const std::string& lease, bool lost) = 0;
};

// Hears nothing.
class NoObserver : public Observer {
 public:
  void OnCall(absl::string_view, const grpc::Status&) override {}
  void OnJob(const measure::JobStatus&) override {}
  void OnLease(const std::string&, const std::string&,
               const measure::LeaseOffer&) override {}
  void OnHeartbeat(const std::string&) override {}
  void OnResult(const measure::Record&, measure::Completion) override {}
  void OnGiveBack(const std::string&, bool) override {}
};

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_OBSERVER_H_
