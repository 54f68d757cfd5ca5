#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "measure/record/check_record.h"
#include "measure/worker/protocol_version.h"
#include "tools/daemon/peer.h"
#include "tools/daemon/service.h"
#include "tools/daemon/status.h"

namespace tilewright::daemon {
namespace {

using measure::Completion;
using measure::JobQueue;
using measure::LeaseOffer;

absl::Status CheckResult(const CompleteRequest& request) {
  TW_RETURN_IF_ERROR(measure::CheckRecord(request.record()));
  if (request.record().task_id() != request.task_id() ||
      request.record().lease() != request.lease()) {
    return absl::InvalidArgumentError(
        "the record is of another task or lease than the request");
  }
  return absl::OkStatus();
}

absl::Status Fill(const LeaseOffer& offer, LeaseReply& reply) {
  reply.set_lease(offer.name);
  for (const measure::LeasedTask& task : offer.tasks) {
    LeaseReply::Leased& leased = *reply.add_tasks();
    leased.set_task_id(task.id);
    if (!leased.mutable_task()->ParseFromString(task.request)) {
      return absl::DataLossError(
          absl::StrCat("the request of task ", task.id, " is damaged"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

grpc::Status WorkersService::Lease(grpc::ServerContext* context,
                                   const LeaseRequest* request,
                                   LeaseReply* reply) {
  const absl::Status version =
      measure::CheckProtocolVersion(request->protocol_version(), "the worker");
  if (!version.ok()) return ToGrpc(version);
  const int most =
      std::clamp(request->most_tasks(), 1, limits_.most_tasks_of_a_lease);
  const auto until = std::chrono::steady_clock::now() +
                     std::chrono::duration<double>(std::clamp(
                         request->wait_s(), 0.0, limits_.longest_wait_s));
  reply->set_lease_s(static_cast<double>(lease_ns_) * 1e-9);
  const std::string certified = CertifiedName(*context);
  const std::string& worker = certified.empty() ? request->worker() : certified;
  while (!context->IsCancelled() && !queue_.stopped()) {
    const uint64_t seen = queue_.changes(SharedQueue::kWork);
    // Nobody who waits is woken up by it.
    const absl::StatusOr<LeaseOffer> offer = queue_.Read([&](JobQueue& queue) {
      return queue.Lease(worker, request->device_class(), most,
                         clock_.UnixNs());
    });
    if (!offer.ok()) return ToGrpc(offer.status());
    observer_.OnLease(worker, request->device_class(), *offer);
    if (!offer->tasks.empty()) return ToGrpc(Fill(*offer, *reply));
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return grpc::Status::OK;
    queue_.WaitForChange(SharedQueue::kWork, seen, left);
  }
  return ToGrpc(absl::UnavailableError("the daemon ends"));
}

absl::Status WorkersService::CheckHolder(const grpc::ServerContext& context,
                                         const std::string& lease) {
  const std::string name = CertifiedName(context);
  if (name.empty()) return absl::OkStatus();
  TW_ASSIGN_OR_RETURN(
      const std::string holder,
      queue_.Read([&](JobQueue& queue) { return queue.Holder(lease); }));
  if (holder.empty() || holder == name) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("lease ", lease, " is another worker's"));
}

grpc::Status WorkersService::Heartbeat(grpc::ServerContext* context,
                                       const HeartbeatRequest* request,
                                       HeartbeatReply* reply) {
  const absl::Status holder = CheckHolder(*context, request->lease());
  if (!holder.ok()) return ToGrpc(holder);
  const absl::StatusOr<bool> wanted = queue_.Read([&](JobQueue& queue) {
    return queue.Heartbeat(request->lease(), clock_.UnixNs());
  });
  if (!wanted.ok()) return ToGrpc(wanted.status());
  observer_.OnHeartbeat(request->lease());
  reply->set_wanted(*wanted);
  return grpc::Status::OK;
}

grpc::Status WorkersService::Complete(grpc::ServerContext* context,
                                      const CompleteRequest* request,
                                      CompleteReply* reply) {
  const absl::Status valid = CheckResult(*request);
  if (!valid.ok()) return ToGrpc(valid);
  const absl::Status holder = CheckHolder(*context, request->lease());
  if (!holder.ok()) return ToGrpc(holder);
  const absl::StatusOr<Completion> completion =
      deliveries_.Deliver({request->lease(), request->task_id(),
                           request->record().SerializeAsString()});
  if (!completion.ok()) return ToGrpc(completion.status());
  observer_.OnResult(request->record(), *completion);
  reply->set_counted(*completion == Completion::kAccepted);
  reply->set_stale(*completion == Completion::kStale);
  return grpc::Status::OK;
}

grpc::Status WorkersService::GiveBack(grpc::ServerContext* context,
                                      const GiveBackRequest* request,
                                      GiveBackReply*) {
  const absl::Status holder = CheckHolder(*context, request->lease());
  if (!holder.ok()) return ToGrpc(holder);
  const absl::Status given_back = queue_.Change([&](JobQueue& queue) {
    return queue.GiveBack(request->lease(), request->lost(), clock_.UnixNs());
  });
  if (given_back.ok()) observer_.OnGiveBack(request->lease(), request->lost());
  return ToGrpc(given_back);
}

}  // namespace tilewright::daemon
