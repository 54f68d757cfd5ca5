#include "measure/worker/run_worker.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "measure/worker/builder_worker.h"
#include "measure/worker/child_process.h"
#include "measure/worker/confinement.h"
#include "measure/worker/measuring_worker.h"
#include "measure/worker/message_channel.h"
#include "measure/worker/protocol.pb.h"
#include "measure/worker/protocol_version.h"

namespace tilewright::measure {
namespace {

absl::Status Refuse(MessageChannel& channel, const std::string& why) {
  WorkerReply reply;
  WorkerReply::Failed& failed = *reply.mutable_failed();
  failed.set_fault(Measurement::INFRASTRUCTURE);
  failed.set_message(why);
  return channel.SendAll(reply);
}

absl::Status Serve(MessageChannel& channel,
                   const std::vector<WorkerBackend>& backends) {
  WorkerRequest request;
  absl::Status status = channel.Receive(request);
  if (!status.ok()) return status;
  const WorkerSetup& setup = request.setup();
  const absl::Status version = CheckProtocolVersion(
      setup.protocol_version(), "the process that measures");
  if (!version.ok()) return Refuse(channel, std::string(version.message()));
  const auto backend = std::find_if(
      backends.begin(), backends.end(),
      [&](const WorkerBackend& b) { return b.name == setup.backend(); });
  if (backend == backends.end()) {
    return Refuse(channel, absl::StrCat("this binary offers no backend '",
                                        setup.backend(), "'"));
  }
  ExitWhenOutOfMemory();
  return setup.role() == WorkerSetup::BUILDER
             ? ServeBuilds(channel, *backend, setup)
             : ServeMeasurements(channel, *backend, setup);
}

}  // namespace

void RunWorkerIfAsked(int argc, char** argv,
                      const std::vector<WorkerBackend>& backends) {
  if (!IsWorker(argc, argv)) return;
  MessageChannel channel(kWorkerDescriptor);
  // It ends with an error when the parent is gone, which is no news; and
  // without destructors, which candidates may have spoilt.
  (void)Serve(channel, backends);
  _exit(EXIT_SUCCESS);
}

}  // namespace tilewright::measure
