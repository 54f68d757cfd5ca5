// The daemon as its clients and workers see it: calls with deadlines, repeated
// while it cannot be reached.
#ifndef TILEWRIGHT_TOOLS_DAEMON_CLIENT_H_
#define TILEWRIGHT_TOOLS_DAEMON_CLIENT_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/cancellation.h"
#include "tools/daemon/status.h"

namespace tilewright::daemon {

// A channel to the address (address.h), over TCP with the certificates of the
// folder `tls`; nothing is sent yet. Errors of both.
absl::StatusOr<std::shared_ptr<grpc::Channel>> ConnectTo(
    const std::string& address, const std::string& tls = "");

struct CallOptions {
  // How long a daemon that cannot be reached is waited for. It may have been
  // killed, and be started again.
  double patience_s = 60;
  double deadline_s = 60;                      // of one attempt
  const Cancellation* cancellation = nullptr;  // ends the repetitions
};

// Calls until the daemon answers. All calls of daemon.proto may be repeated:
// one whose answer was lost changes nothing the second time. Unavailable,
// saying so, when patience ends; Cancelled.
absl::Status CallPatiently(
    grpc::Channel& channel, const CallOptions& options,
    const std::function<grpc::Status(grpc::ClientContext&)>& call);

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_CLIENT_H_
