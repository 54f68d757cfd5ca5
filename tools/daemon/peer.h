// Who made a call, and what it may do.
//
// A Unix socket lets in this process's user and root, who may do everything.
// Over TCP it is the common name of the certificate: names that begin with
// "worker." are workers, all others clients; neither may do the other's part.
#ifndef TILEWRIGHT_TOOLS_DAEMON_PEER_H_
#define TILEWRIGHT_TOOLS_DAEMON_PEER_H_

#include <grpcpp/security/auth_metadata_processor.h>
#include <grpcpp/server_context.h>

#include <string>

#include "tools/daemon/observer.h"

namespace tilewright::daemon {

// The certificate's name; empty for a peer of the Unix socket.
std::string CertifiedName(const grpc::ServerContext& context);

// Whose jobs a call is about.
std::string OwnerOf(const grpc::ServerContext& context);

// Refuses every call over TCP that is not its caller's to make. `observer` must
// outlive it.
class RoleGate : public grpc::AuthMetadataProcessor {
 public:
  explicit RoleGate(Observer& observer) : observer_(observer) {}
  bool IsBlocking() const override { return false; }
  grpc::Status Process(const InputMetadata& metadata,
                       grpc::AuthContext* context, OutputMetadata* consumed,
                       OutputMetadata* response) override;

 private:
  Observer& observer_;
};

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_PEER_H_
