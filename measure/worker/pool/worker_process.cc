#include "measure/worker/pool/worker_process.h"

#include <utility>

#include "absl/status/statusor.h"
#include "base/status_macros.h"

namespace tilewright::measure {

absl::Status WorkerProcess::Start(const WorkerSetup& setup) {
  TW_ASSIGN_OR_RETURN(ChildProcess child, ChildProcess::Start());
  child_ = std::make_unique<ChildProcess>(std::move(child));
  channel_ = MessageChannel(child_->TakeSocket());
  WorkerRequest request;
  *request.mutable_setup() = setup;
  Send(request);
  return absl::OkStatus();
}

bool WorkerProcess::Pump(std::vector<WorkerReply>& replies) {
  bool usable = channel_.Flush().ok();
  // Also the last words of one that is gone.
  usable = channel_.Read().ok() && usable;
  while (true) {
    WorkerReply reply;
    const absl::StatusOr<bool> received = channel_.Next(reply);
    if (!received.ok()) return false;
    if (!*received) return usable;
    replies.push_back(std::move(reply));
  }
}

Ending WorkerProcess::End() {
  constexpr double kGraceS = 1;
  channel_.Close();
  const Ending ending = child_->End(kGraceS);
  child_ = nullptr;
  return ending;
}

void WorkerProcess::Kill() {
  channel_.Close();
  child_ = nullptr;
}

}  // namespace tilewright::measure
