// Statuses of gRPC are those of Abseil, by number.
#ifndef TILEWRIGHT_TOOLS_DAEMON_STATUS_H_
#define TILEWRIGHT_TOOLS_DAEMON_STATUS_H_

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"

namespace tilewright::daemon {

inline grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      std::string(status.message()));
}

inline absl::Status FromGrpc(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_STATUS_H_
