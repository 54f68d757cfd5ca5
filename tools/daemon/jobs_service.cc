#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "measure/record/task_id.h"
#include "measure/worker/protocol_version.h"
#include "tools/daemon/peer.h"
#include "tools/daemon/service.h"
#include "tools/daemon/status.h"

namespace tilewright::daemon {
namespace {

using measure::JobQueue;
using measure::JobStatus;
using measure::Method;
using measure::TaskEvent;
using measure::TaskSpec;

constexpr std::chrono::milliseconds kWatchInterval{1000};
// News of so long go out together.
constexpr std::chrono::milliseconds kGather{5};
constexpr int kEventsOfAReply = 64;

JobState ToProto(const JobStatus& job) {
  JobState proto;
  proto.set_id(job.id);
  proto.set_key(job.spec.key);
  proto.set_title(job.spec.title);
  proto.set_priority(job.spec.priority);
  proto.set_most_tasks(job.spec.most_tasks);
  proto.set_state(static_cast<JobState::State>(job.state));
  proto.set_tasks(job.tasks);
  proto.set_leased(job.leased);
  proto.set_ended(job.ended);
  return proto;
}

absl::Status CheckKeys(const AddTasksRequest& request) {
  if (request.workload().fingerprint() !=
      Fingerprint::Of(request.workload().text()).ToString()) {
    return absl::InvalidArgumentError(
        "the workload's fingerprint is not that of its text");
  }
  if (request.cache() != Method::WARM &&
      request.cache() != Method::FRESH_CONSTANTS) {
    return absl::InvalidArgumentError(
        "operands are measured warm or with fresh constants");
  }
  return Fingerprint::FromString(request.device().structure_fingerprint())
      .status();
}

std::vector<TaskSpec> TasksOf(const AddTasksRequest& request) {
  measure::Versions versions;
  versions.set_code_generation(request.code_generation());
  const std::string device_class =
      measure::DeviceClass(request.device(), versions);
  std::vector<TaskSpec> tasks;
  for (const sketch::ScheduleProto& schedule : request.schedules()) {
    MeasureTask task;
    *task.mutable_workload() = request.workload();
    *task.mutable_schedule() = schedule;
    // It decides nothing, and is no part of the id.
    task.mutable_schedule()->clear_generator();
    task.mutable_device()->set_structure_fingerprint(
        request.device().structure_fingerprint());
    task.set_code_generation(request.code_generation());
    task.set_cache(request.cache());
    tasks.push_back(
        {measure::TaskId(request.workload(), schedule, device_class,
                         request.cache()),
         device_class,
         TaskGroup(request.workload().fingerprint(), request.cache()),
         task.SerializeAsString()});
  }
  return tasks;
}

}  // namespace

grpc::Status JobsService::Answer(const absl::StatusOr<JobStatus>& job,
                                 JobState* reply) {
  if (!job.ok()) return ToGrpc(job.status());
  observer_.OnJob(*job);
  *reply = ToProto(*job);
  return grpc::Status::OK;
}

grpc::Status JobsService::OpenJob(grpc::ServerContext* context,
                                  const OpenJobRequest* request,
                                  JobState* reply) {
  const std::string owner = OwnerOf(*context);
  const absl::Status version =
      measure::CheckProtocolVersion(request->protocol_version(), "the client");
  if (!version.ok()) return ToGrpc(version);
  measure::JobSpec spec;
  spec.owner = owner;
  spec.key = request->key();
  spec.title = request->title();
  spec.priority = request->priority();
  spec.most_tasks = std::clamp<int64_t>(request->most_tasks(), 0,
                                        limits_.most_tasks_of_a_job);
  return Answer(
      queue_.Change([&](JobQueue& queue) -> absl::StatusOr<JobStatus> {
        TW_ASSIGN_OR_RETURN(const std::vector<JobStatus> jobs,
                            queue.Jobs(owner));
        int64_t open = 0;
        for (const JobStatus& job : jobs) {
          open +=
              job.state == JobStatus::State::kOpen && job.spec.key != spec.key;
        }
        if (open >= limits_.most_open_jobs) {
          return absl::ResourceExhaustedError(
              absl::StrCat(open, " jobs are open; cancel or close one"));
        }
        return queue.OpenJob(spec);
      }),
      reply);
}

grpc::Status JobsService::AddTasks(grpc::ServerContext* context,
                                   const AddTasksRequest* request,
                                   AddTasksReply* reply) {
  const std::string owner = OwnerOf(*context);
  if (request->schedules_size() > limits_.most_tasks_of_a_call) {
    return ToGrpc(absl::InvalidArgumentError(
        absl::StrCat("more than ", limits_.most_tasks_of_a_call,
                     " tasks in one call; make several")));
  }
  const absl::Status keys = CheckKeys(*request);
  if (!keys.ok()) return ToGrpc(keys);
  const std::vector<TaskSpec> tasks = TasksOf(*request);
  const absl::Status added = queue_.Change([&](JobQueue& queue) {
    return queue.AddTasks(owner, request->job(), tasks);
  });
  for (const TaskSpec& task : tasks) reply->add_task_ids(task.id);
  return ToGrpc(added);
}

grpc::Status JobsService::CloseJob(grpc::ServerContext* context,
                                   const JobRequest* request, JobState* reply) {
  const std::string owner = OwnerOf(*context);
  return Answer(
      queue_.Change([&](JobQueue& queue) -> absl::StatusOr<JobStatus> {
        TW_RETURN_IF_ERROR(queue.CloseJob(owner, request->job()));
        return queue.Job(owner, request->job());
      }),
      reply);
}

grpc::Status JobsService::CancelJob(grpc::ServerContext* context,
                                    const JobRequest* request,
                                    JobState* reply) {
  const std::string owner = OwnerOf(*context);
  return Answer(
      queue_.Change([&](JobQueue& queue) -> absl::StatusOr<JobStatus> {
        TW_RETURN_IF_ERROR(queue.CancelJob(owner, request->job()));
        return queue.Job(owner, request->job());
      }),
      reply);
}

grpc::Status JobsService::GetJob(grpc::ServerContext* context,
                                 const JobRequest* request, JobState* reply) {
  const std::string owner = OwnerOf(*context);
  const absl::StatusOr<JobStatus> job = queue_.Read(
      [&](JobQueue& queue) { return queue.Job(owner, request->job()); });
  if (!job.ok()) return ToGrpc(job.status());
  *reply = ToProto(*job);
  return grpc::Status::OK;
}

grpc::Status JobsService::ListJobs(grpc::ServerContext* context,
                                   const ListJobsRequest*,
                                   ListJobsReply* reply) {
  const std::string owner = OwnerOf(*context);
  const absl::StatusOr<std::vector<JobStatus>> jobs =
      queue_.Read([&](JobQueue& queue) { return queue.Jobs(owner); });
  if (!jobs.ok()) return ToGrpc(jobs.status());
  for (const JobStatus& job : *jobs) *reply->add_jobs() = ToProto(job);
  return grpc::Status::OK;
}

grpc::Status JobsService::Watch(grpc::ServerContext* context,
                                const WatchRequest* request,
                                grpc::ServerWriter<WatchReply>* writer) {
  const std::string owner = OwnerOf(*context);
  int64_t after = request->after();
  WatchReply reply;
  auto state_until = std::chrono::steady_clock::time_point::min();
  while (!context->IsCancelled()) {
    const uint64_t seen = queue_.changes(SharedQueue::kNews);
    const auto now = std::chrono::steady_clock::now();
    std::vector<TaskEvent> events;
    // Counting the job's tasks takes long: it is done at the end, and once an
    // interval.
    const absl::StatusOr<bool> over =
        queue_.Read([&](JobQueue& queue) -> absl::StatusOr<bool> {
          TW_ASSIGN_OR_RETURN(events, queue.Events(owner, request->job(), after,
                                                   kEventsOfAReply));
          TW_ASSIGN_OR_RETURN(const bool over, queue.IsOver(request->job()));
          if (over || now >= state_until) {
            TW_ASSIGN_OR_RETURN(const JobStatus job,
                                queue.Job(owner, request->job()));
            *reply.mutable_job() = ToProto(job);
            state_until = now + kWatchInterval;
          }
          return over;
        });
    if (!over.ok()) return ToGrpc(over.status());
    reply.clear_events();
    for (const TaskEvent& event : events) {
      WatchReply::Event& proto = *reply.add_events();
      proto.set_number(event.number);
      proto.set_task_id(event.task);
      if (!event.given_up &&
          !proto.mutable_record()->ParseFromString(event.result)) {
        return ToGrpc(absl::DataLossError(
            absl::StrCat("the result of task ", event.task, " is damaged")));
      }
      after = event.number;
    }
    if (!writer->Write(reply)) break;
    if (events.size() == kEventsOfAReply) continue;
    if (*over) return grpc::Status::OK;
    if (queue_.stopped()) {
      return ToGrpc(absl::UnavailableError("the daemon ends"));
    }
    queue_.WaitForChange(SharedQueue::kNews, seen, kWatchInterval);
    std::this_thread::sleep_for(kGather);
  }
  return ToGrpc(absl::CancelledError("the client is gone"));
}

}  // namespace tilewright::daemon
