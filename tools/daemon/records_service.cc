// Records that a client finds again: JobsService::Query and AddRecords.
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "measure/record/check_record.h"
#include "measure/record/task_id.h"
#include "tools/daemon/peer.h"
#include "tools/daemon/service.h"
#include "tools/daemon/status.h"

namespace tilewright::daemon {
namespace {

using measure::DepositSpec;
using measure::JobQueue;
using measure::Method;
using measure::TaskEvent;

constexpr int kRecordsOfAReply = 64;

std::string DeviceClassOf(const measure::DeviceKey& device,
                          int code_generation) {
  measure::Versions versions;
  versions.set_code_generation(code_generation);
  return measure::DeviceClass(device, versions);
}

// Everything that `read` has, reply by reply.
absl::Status Send(SharedQueue& queue,
                  const std::function<absl::StatusOr<std::vector<TaskEvent>>(
                      JobQueue& queue, int64_t after)>& read,
                  grpc::ServerWriter<QueryReply>* writer) {
  int64_t after = 0;
  while (true) {
    TW_ASSIGN_OR_RETURN(
        const std::vector<TaskEvent> events,
        queue.Read([&](JobQueue& queue) { return read(queue, after); }));
    if (events.empty()) return absl::OkStatus();
    QueryReply reply;
    for (const TaskEvent& event : events) {
      if (!reply.add_records()->ParseFromString(event.result)) {
        return absl::DataLossError(
            absl::StrCat("the record of ", event.task, " is damaged"));
      }
      after = event.number;
    }
    if (!writer->Write(reply))
      return absl::CancelledError("the client is gone");
  }
}

}  // namespace

grpc::Status JobsService::Query(grpc::ServerContext* context,
                                const QueryRequest* request,
                                grpc::ServerWriter<QueryReply>* writer) {
  const std::string owner = OwnerOf(*context);
  const std::string device_class =
      request->has_device()
          ? DeviceClassOf(request->device(), request->code_generation())
          : "";
  std::vector<std::string> groups = {""};
  if (!request->workload().empty()) {
    groups = {TaskGroup(request->workload(), Method::WARM),
              TaskGroup(request->workload(), Method::FRESH_CONSTANTS)};
  }
  for (const std::string& group : groups) {
    const absl::Status sent = Send(
        queue_,
        [&](JobQueue& queue, int64_t after) {
          return queue.Results(owner, device_class, group, after,
                               kRecordsOfAReply);
        },
        writer);
    if (!sent.ok()) return ToGrpc(sent);
  }
  return ToGrpc(Send(
      queue_,
      [&](JobQueue& queue, int64_t after) {
        return queue.Deposits(owner, device_class, request->workload(), after,
                              kRecordsOfAReply);
      },
      writer));
}

grpc::Status JobsService::AddRecords(grpc::ServerContext* context,
                                     const AddRecordsRequest* request,
                                     AddRecordsReply*) {
  const std::string owner = OwnerOf(*context);
  std::vector<DepositSpec> deposits;
  for (const measure::Record& record : request->records()) {
    const absl::Status valid = measure::CheckRecord(record);
    if (!valid.ok()) return ToGrpc(valid);
    if (!record.lease().empty()) {
      return ToGrpc(absl::InvalidArgumentError(
          "a record of a lease comes from the worker that has it"));
    }
    const std::string bytes = record.SerializeAsString();
    deposits.push_back(
        {Fingerprint::Of(bytes).ToString(),
         DeviceClassOf(record.device(), record.versions().code_generation()),
         record.workload().fingerprint(), bytes});
  }
  return ToGrpc(queue_.Read([&](JobQueue& queue) {
    return queue.Deposit(owner, deposits, limits_.most_records_added);
  }));
}

}  // namespace tilewright::daemon
