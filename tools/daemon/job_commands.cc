#include "tools/daemon/job_commands.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "tools/daemon/client.h"
#include "tools/daemon/daemon.grpc.pb.h"

namespace tilewright::daemon {
namespace {

// A person waits for it.
CallOptions Shortly() {
  CallOptions options;
  options.patience_s = 2;
  return options;
}

absl::StatusOr<ListJobsReply> List(grpc::Channel& channel, Jobs::Stub& stub) {
  ListJobsReply reply;
  TW_RETURN_IF_ERROR(
      CallPatiently(channel, Shortly(), [&](grpc::ClientContext& context) {
        return stub.ListJobs(&context, ListJobsRequest(), &reply);
      }));
  return reply;
}

const char* StateOf(const JobState& job) {
  if (job.state() == JobState::CANCELLED) return "cancelled";
  if (job.state() == JobState::OPEN) return "open";
  return job.ended() == job.tasks() ? "done" : "closed";
}

// What is there now; does not wait for more.
absl::Status ExportJob(grpc::Channel& channel, Jobs::Stub& stub, int64_t job,
                       measure::Store& store, measure::AddedRecords& all) {
  int64_t after = 0;
  return CallPatiently(channel, Shortly(), [&](grpc::ClientContext& context) {
    WatchRequest request;
    request.set_job(job);
    request.set_after(after);
    const auto reader = stub.Watch(&context, request);
    WatchReply reply;
    while (reader->Read(&reply) && !reply.events().empty()) {
      std::vector<measure::Record> records;
      for (const WatchReply::Event& event : reply.events()) {
        if (event.has_record()) records.push_back(event.record());
        after = event.number();
      }
      const absl::StatusOr<measure::AddedRecords> added = store.Add(records);
      if (!added.ok()) {
        context.TryCancel();
        (void)reader->Finish();
        return ToGrpc(added.status());
      }
      all.added += added->added;
      all.present += added->present;
    }
    context.TryCancel();
    const grpc::Status status = reader->Finish();
    return status.error_code() == grpc::StatusCode::CANCELLED ? grpc::Status::OK
                                                              : status;
  });
}

}  // namespace

absl::StatusOr<std::string> JobTable(
    const std::shared_ptr<grpc::Channel>& channel) {
  const auto stub = Jobs::NewStub(channel);
  TW_ASSIGN_OR_RETURN(const ListJobsReply reply, List(*channel, *stub));
  std::string table = "JOB STATE     MEASURED  ASKED RUNNING TITLE\n";
  for (const JobState& job : reply.jobs()) {
    absl::StrAppendFormat(&table, "%3d %-9s %8d %6d %7d %s\n", job.id(),
                          StateOf(job), job.ended(), job.tasks(), job.leased(),
                          job.title());
  }
  return table;
}

absl::Status CancelJobs(const std::shared_ptr<grpc::Channel>& channel,
                        const std::vector<std::string>& numbers) {
  const auto stub = Jobs::NewStub(channel);
  if (numbers.empty()) {
    return absl::InvalidArgumentError(
        "'cancel' needs a job; 'tilewrightd jobs' lists them");
  }
  for (const std::string& number : numbers) {
    int64_t job = 0;
    if (!absl::SimpleAtoi(number, &job)) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", number, "' is no job's number"));
    }
    JobRequest request;
    request.set_job(job);
    JobState state;
    TW_RETURN_IF_ERROR(
        CallPatiently(*channel, Shortly(), [&](grpc::ClientContext& context) {
          return stub->CancelJob(&context, request, &state);
        }));
  }
  return absl::OkStatus();
}

absl::StatusOr<measure::AddedRecords> ExportRecords(
    const std::shared_ptr<grpc::Channel>& channel, measure::Store& store) {
  const auto stub = Jobs::NewStub(channel);
  TW_ASSIGN_OR_RETURN(const ListJobsReply reply, List(*channel, *stub));
  measure::AddedRecords all;
  for (const JobState& job : reply.jobs()) {
    TW_RETURN_IF_ERROR(ExportJob(*channel, *stub, job.id(), store, all));
  }
  return all;
}

}  // namespace tilewright::daemon
