// A builder or a measurer as the measuring process sees it: a child and the
// channel to it.
#ifndef TILEWRIGHT_MEASURE_WORKER_POOL_WORKER_PROCESS_H_
#define TILEWRIGHT_MEASURE_WORKER_POOL_WORKER_PROCESS_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "measure/worker/child_process.h"
#include "measure/worker/message_channel.h"
#include "measure/worker/protocol.pb.h"

namespace tilewright::measure {

class WorkerProcess {
 public:
  // Starts a child and sends it its setup. Unavailable if there is none to be
  // had.
  absl::Status Start(const WorkerSetup& setup);
  bool running() const { return child_ != nullptr; }

  // For poll. REQUIRES: running.
  int descriptor() const { return channel_.descriptor(); }
  bool has_unsent() const { return channel_.has_unsent(); }

  // That the child is gone shows in Pump. REQUIRES: running.
  void Send(const WorkerRequest& request) { (void)channel_.Send(request); }

  // Sends what waits and takes what arrived. False: it ended, or talks
  // nonsense. REQUIRES: running.
  bool Pump(std::vector<WorkerReply>& replies);

  // Lets one that is ending end, at most for a moment, then kills it. REQUIRES:
  // running.
  Ending End();
  void Kill();
  // REQUIRES: running.
  void Signal(int signal) { child_->Signal(signal); }

 private:
  std::unique_ptr<ChildProcess> child_;
  MessageChannel channel_;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_WORKER_POOL_WORKER_PROCESS_H_
