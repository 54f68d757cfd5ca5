#include "tools/daemon/job_commands.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "tools/daemon/client.h"
#include "tools/daemon/daemon.grpc.pb.h"
#include "tools/daemon/status.h"

namespace tilewright::daemon {
namespace {

constexpr double kExportS = 600;
constexpr size_t kRecordsOfACall = 256;

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
    const std::shared_ptr<grpc::Channel>& channel, const QueryRequest& which,
    measure::Store& store) {
  const auto stub = Jobs::NewStub(channel);
  CallOptions options = Shortly();
  options.deadline_s = kExportS;
  measure::AddedRecords all;
  TW_RETURN_IF_ERROR(
      CallPatiently(*channel, options, [&](grpc::ClientContext& context) {
        all.present = 0;
        const auto reader = stub->Query(&context, which);
        QueryReply reply;
        absl::Status kept;
        while (kept.ok() && reader->Read(&reply)) {
          const absl::StatusOr<measure::AddedRecords> added =
              store.Add(std::vector<measure::Record>(reply.records().begin(),
                                                     reply.records().end()));
          kept = added.status();
          if (!kept.ok()) break;
          all.added += added->added;
          all.present += added->present;
        }
        if (!kept.ok()) context.TryCancel();
        const grpc::Status status = reader->Finish();
        return kept.ok() ? status : ToGrpc(kept);
      }));
  return all;
}

absl::Status AddRecords(const std::shared_ptr<grpc::Channel>& channel,
                        absl::Span<const measure::Record> records) {
  const auto stub = Jobs::NewStub(channel);
  for (size_t begin = 0; begin < records.size(); begin += kRecordsOfACall) {
    AddRecordsRequest request;
    for (const measure::Record& record :
         records.subspan(begin, kRecordsOfACall)) {
      *request.add_records() = record;
    }
    AddRecordsReply reply;
    TW_RETURN_IF_ERROR(
        CallPatiently(*channel, Shortly(), [&](grpc::ClientContext& context) {
          return stub->AddRecords(&context, request, &reply);
        }));
  }
  return absl::OkStatus();
}

}  // namespace tilewright::daemon
