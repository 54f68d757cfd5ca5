#include "tools/daemon/daemon_measurer.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "base/status_macros.h"
#include "measure/worker/protocol_version.h"
#include "tools/daemon/client.h"

namespace tilewright::daemon {
namespace {

using measure::Measurement;

// Each call of a large batch has so many.
constexpr size_t kTasksOfACall = 512;
constexpr double kLongestWatchS = 86400;

Measurement GivenUp() {
  Measurement measurement;
  measurement.set_outcome(Measurement::RUN_ERROR);
  measurement.set_fault(Measurement::INFRASTRUCTURE);
  measurement.set_message("given up: too many workers were lost with it");
  return measurement;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DaemonMeasurer>> DaemonMeasurer::Open(
    std::shared_ptr<grpc::Channel> channel, const DaemonJob& job) {
  std::unique_ptr<DaemonMeasurer> measurer(new DaemonMeasurer(channel, job));
  OpenJobRequest request;
  request.set_protocol_version(measure::kProtocolVersion);
  request.set_key(job.key);
  request.set_title(job.title);
  request.set_priority(job.priority);
  request.set_most_tasks(job.most_tasks);
  JobState state;
  TW_RETURN_IF_ERROR(measurer->Call({}, [&](grpc::ClientContext& context) {
    return measurer->stub_->OpenJob(&context, request, &state);
  }));
  measurer->job_id_ = state.id();
  return measurer;
}

absl::Status DaemonMeasurer::Call(
    CallOptions options,
    const std::function<grpc::Status(grpc::ClientContext&)>& call) {
  options.patience_s = job_.patience_s;
  return CallPatiently(*channel_, options, call);
}

absl::Status DaemonMeasurer::Close() {
  JobRequest request;
  request.set_job(job_id_);
  JobState state;
  return Call({}, [&](grpc::ClientContext& context) {
    return stub_->CloseJob(&context, request, &state);
  });
}

absl::Status DaemonMeasurer::Cancel() {
  JobRequest request;
  request.set_job(job_id_);
  JobState state;
  return Call({}, [&](grpc::ClientContext& context) {
    return stub_->CancelJob(&context, request, &state);
  });
}

absl::StatusOr<std::vector<std::string>> DaemonMeasurer::Add(
    const measure::WorkloadKey& workload,
    absl::Span<const sketch::ScheduleProto> schedules) {
  std::vector<std::string> ids;
  while (ids.size() < schedules.size()) {
    AddTasksRequest request;
    request.set_job(job_id_);
    *request.mutable_workload() = workload;
    *request.mutable_device() = job_.device;
    request.set_code_generation(job_.code_generation);
    request.set_cache(job_.cache);
    for (const sketch::ScheduleProto& schedule :
         schedules.subspan(ids.size(), kTasksOfACall)) {
      *request.add_schedules() = schedule;
    }
    AddTasksReply reply;
    TW_RETURN_IF_ERROR(Call({}, [&](grpc::ClientContext& context) {
      return stub_->AddTasks(&context, request, &reply);
    }));
    if (reply.task_ids_size() != request.schedules_size()) {
      return absl::InternalError("the daemon answers for other tasks");
    }
    ids.insert(ids.end(), reply.task_ids().begin(), reply.task_ids().end());
  }
  return ids;
}

absl::Status DaemonMeasurer::Watch(const std::function<bool()>& enough) {
  CallOptions options;
  options.deadline_s = kLongestWatchS;
  return Call(options, [&](grpc::ClientContext& context) {
    WatchRequest request;
    request.set_job(job_id_);
    request.set_after(last_event_);
    const auto reader = stub_->Watch(&context, request);
    WatchReply reply;
    bool done = enough();
    while (!done && reader->Read(&reply)) {
      for (const WatchReply::Event& event : reply.events()) {
        results_[event.task_id()] =
            event.has_record() ? event.record().measurement() : GivenUp();
        last_event_ = event.number();
      }
      done = enough();
    }
    if (done) context.TryCancel();
    const grpc::Status status = reader->Finish();
    return done ? grpc::Status::OK : status;
  });
}

absl::StatusOr<std::vector<Measurement>> DaemonMeasurer::DoMeasure(
    const measure::MeasureBatch& batch) {
  if (batch.alone) {
    return absl::UnimplementedError(
        "a daemon compares no candidates on one device yet: compare them here");
  }
  const measure::MeasureOptions& options = batch.options;
  const auto cancelled = [&] {
    return options.cancellation != nullptr && options.cancellation->cancelled();
  };
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                      Add(batch.workload, batch.schedules));
  std::vector<Measurement> measured(ids.size());
  std::vector<size_t> missing;
  for (size_t i = 0; i < ids.size(); ++i) missing.push_back(i);
  const auto finish = [&](size_t i, Measurement measurement) {
    measured[i] = std::move(measurement);
    if (options.on_result) {
      options.on_result(static_cast<int>(i), measured[i]);
    }
  };
  const auto enough = [&] {
    missing.erase(std::remove_if(missing.begin(), missing.end(),
                                 [&](size_t i) {
                                   const auto found = results_.find(ids[i]);
                                   if (found == results_.end()) return false;
                                   finish(i, found->second);
                                   return true;
                                 }),
                  missing.end());
    return missing.empty() || cancelled();
  };
  while (!enough()) TW_RETURN_IF_ERROR(Watch(enough));
  for (const size_t i : missing) {
    Measurement measurement;
    measurement.set_outcome(Measurement::NOT_MEASURED);
    measurement.set_message("measuring was cancelled");
    finish(i, std::move(measurement));
  }
  return measured;
}

}  // namespace tilewright::daemon
