#include "tools/daemon/worker.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "measure/record/task_id.h"
#include "measure/worker/protocol_version.h"
#include "tools/daemon/client.h"
#include "tools/daemon/daemon.grpc.pb.h"

namespace tilewright::daemon {
namespace {

using measure::Measurement;
using measure::Record;

constexpr double kHeartbeatsOfALease = 4;
constexpr double kStopWithinS = 0.1;

// Renews a lease until it is destroyed. Cancels the measuring if the lease is
// lost, nobody wants it, or the worker is to stop.
class Heartbeats {
 public:
  Heartbeats(Workers::Stub& stub, const LeaseReply& lease,
             const Cancellation& stop, Cancellation& measuring)
      : stub_(stub), stop_(stop), measuring_(measuring) {
    request_.set_lease(lease.lease());
    interval_s_ = lease.lease_s() / kHeartbeatsOfALease;
    thread_ = std::thread([this] { Run(); });
  }
  ~Heartbeats() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  void Run() {
    double until_next_s = interval_s_;
    while (true) {
      {
        std::unique_lock<std::mutex> lock(mutex_);
        const double wait_s = std::min(kStopWithinS, until_next_s);
        changed_.wait_for(lock, std::chrono::duration<double>(wait_s),
                          [this] { return over_; });
        if (over_) return;
        until_next_s -= wait_s;
      }
      if (stop_.cancelled()) measuring_.Cancel();
      if (until_next_s > 0) continue;
      until_next_s = interval_s_;
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() +
                           std::chrono::milliseconds(
                               static_cast<int64_t>(interval_s_ * 1e3) + 1));
      HeartbeatReply reply;
      const grpc::Status status = stub_.Heartbeat(&context, request_, &reply);
      // A daemon that is gone may come back, and the lease with it.
      if (status.error_code() == grpc::StatusCode::NOT_FOUND ||
          (status.ok() && !reply.wanted())) {
        measuring_.Cancel();
      }
    }
  }

  Workers::Stub& stub_;
  const Cancellation& stop_;
  Cancellation& measuring_;
  HeartbeatRequest request_;
  double interval_s_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

class Worker {
 public:
  Worker(const WorkerOptions& options,
         const std::shared_ptr<grpc::Channel>& channel,
         const MeasurerFor& measurer, Clock& clock, const Cancellation& stop)
      : options_(options),
        channel_(channel),
        stub_(Workers::NewStub(channel)),
        measurer_(measurer),
        clock_(clock),
        stop_(stop) {}

  absl::Status Run();

 private:
  CallOptions Patiently() const {
    CallOptions options;
    options.patience_s = options_.patience_s;
    options.cancellation = &stop_;
    return options;
  }
  absl::Status MeasureLease(const LeaseReply& lease);
  // Whether the lease still counts.
  absl::StatusOr<bool> Deliver(const LeaseReply& lease, int index,
                               const Measurement& measurement);
  absl::Status GiveBack(const LeaseReply& lease, bool lost);

  const WorkerOptions& options_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<Workers::Stub> stub_;
  const MeasurerFor& measurer_;
  Clock& clock_;
  const Cancellation& stop_;
};

absl::StatusOr<bool> Worker::Deliver(const LeaseReply& lease, int index,
                                     const Measurement& measurement) {
  const LeaseReply::Leased& leased = lease.tasks(index);
  CompleteRequest request;
  request.set_lease(lease.lease());
  request.set_task_id(leased.task_id());
  Record& record = *request.mutable_record();
  record = options_.made;
  *record.mutable_workload() = leased.task().workload();
  *record.mutable_schedule() = leased.task().schedule();
  *record.mutable_measurement() = measurement;
  // Of failures, too: it is part of the task.
  record.mutable_measurement()->mutable_method()->set_cache(
      leased.task().cache());
  record.set_task_id(leased.task_id());
  record.set_lease(lease.lease());
  record.set_unix_ns(clock_.UnixNs());
  CompleteReply reply;
  TW_RETURN_IF_ERROR(
      CallPatiently(*channel_, Patiently(), [&](grpc::ClientContext& context) {
        return stub_->Complete(&context, request, &reply);
      }));
  return !reply.stale();
}

absl::Status Worker::GiveBack(const LeaseReply& lease, bool lost) {
  GiveBackRequest request;
  request.set_lease(lease.lease());
  request.set_lost(lost);
  GiveBackReply reply;
  // Whoever stops does not wait for a daemon that is gone: leases run out.
  return CallPatiently(*channel_, Patiently(),
                       [&](grpc::ClientContext& context) {
                         return stub_->GiveBack(&context, request, &reply);
                       });
}

absl::Status Worker::MeasureLease(const LeaseReply& lease) {
  std::vector<sketch::ScheduleProto> schedules;
  for (const LeaseReply::Leased& leased : lease.tasks()) {
    schedules.push_back(leased.task().schedule());
  }
  Cancellation measuring;
  absl::Status delivered, device;
  int undelivered = lease.tasks_size();
  measure::MeasureOptions how;
  how.cancellation = &measuring;
  how.on_result = [&](int index, const Measurement& measurement) {
    if (measurement.outcome() == Measurement::NOT_MEASURED || !delivered.ok()) {
      return;
    }
    if (measurement.fault() == Measurement::DEVICE ||
        measurement.fault() == Measurement::INFRASTRUCTURE) {
      device = absl::UnavailableError(
          absl::StrCat("the device does not work: ", measurement.message()));
      measuring.Cancel();
      return;
    }
    const absl::StatusOr<bool> counts = Deliver(lease, index, measurement);
    delivered.Update(counts.status());
    if (!counts.ok() || !*counts) measuring.Cancel();
    --undelivered;
  };
  absl::Status measured;
  {
    const Heartbeats heartbeats(*stub_, lease, stop_, measuring);
    const MeasureTask& first = lease.tasks(0).task();
    const absl::StatusOr<measure::Measurer*> measurer =
        measurer_(first.cache());
    measured =
        measurer.ok()
            ? (*measurer)->Measure(first.workload(), schedules, how).status()
            : measurer.status();
  }
  measured.Update(device);
  if (undelivered > 0) {
    const absl::Status given_back = GiveBack(lease, !measured.ok());
    if (!absl::IsCancelled(given_back)) delivered.Update(given_back);
  }
  TW_RETURN_IF_ERROR(measured);
  return absl::IsCancelled(delivered) ? absl::OkStatus() : delivered;
}

absl::Status Worker::Run() {
  LeaseRequest request;
  request.set_protocol_version(measure::kProtocolVersion);
  request.set_worker(options_.name);
  request.set_device_class(
      measure::DeviceClass(options_.made.device(), options_.made.versions()));
  request.set_most_tasks(options_.most_tasks);
  request.set_wait_s(std::min(options_.wait_s, options_.most_idle_s));
  int64_t idle_since_ns = clock_.WallNs();
  while (!stop_.cancelled()) {
    LeaseReply lease;
    const absl::Status status = CallPatiently(
        *channel_, Patiently(), [&](grpc::ClientContext& context) {
          return stub_->Lease(&context, request, &lease);
        });
    if (absl::IsCancelled(status)) return absl::OkStatus();
    TW_RETURN_IF_ERROR(status);
    if (lease.tasks().empty()) {
      const auto idle_ns = static_cast<double>(clock_.WallNs() - idle_since_ns);
      if (idle_ns * 1e-9 >= options_.most_idle_s) return absl::OkStatus();
      continue;
    }
    TW_RETURN_IF_ERROR(MeasureLease(lease));
    idle_since_ns = clock_.WallNs();
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunWorker(const WorkerOptions& options,
                       const std::shared_ptr<grpc::Channel>& channel,
                       const MeasurerFor& measurer, Clock& clock,
                       const Cancellation& stop) {
  return Worker(options, channel, measurer, clock, stop).Run();
}

}  // namespace tilewright::daemon
