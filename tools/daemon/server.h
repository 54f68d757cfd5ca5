// The daemon: its queue, its services, and the addresses they are reached at.
#ifndef TILEWRIGHT_TOOLS_DAEMON_SERVER_H_
#define TILEWRIGHT_TOOLS_DAEMON_SERVER_H_

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "measure/jobs/job_queue.h"
#include "tools/daemon/file_lock.h"
#include "tools/daemon/observer.h"
#include "tools/daemon/service.h"
#include "tools/daemon/shared_queue.h"
#include "tools/daemon/unix_listener.h"

namespace tilewright::daemon {

struct ServerOptions {
  std::vector<std::string> listen;  // addresses (address.h); one of each kind
  std::string tls;    // the folder of certificates, for an address of TCP
  std::string state;  // a folder of this user; made if it is not there
  measure::JobQueueOptions queue;  // with a name: of a new state
  ServiceLimits limits;
  std::vector<grpc::Service*> more_services;  // they must outlive the server
  int most_message_bytes = 64 << 20;
  int most_threads = 512;  // every worker and every watcher waits in one
};

// A new name for a state: random, so that leases of two daemons differ.
std::string RandomName();

class Server {
 public:
  // Serves until it is destroyed. AlreadyExists: another daemon has the state
  // or the socket. Errors of the queue, the addresses and the certificates.
  // `clock` must outlive it, and be thread-safe; so must `observer`, if any.
  static absl::StatusOr<std::unique_ptr<Server>> Start(
      const ServerOptions& options, Clock& clock, Observer* observer = nullptr);
  // Ends all calls. What was acknowledged is on the disk.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // The port of its TCP address, which may have asked for port 0; 0: none.
  int tcp_port() const { return tcp_port_; }
  SharedQueue& queue() { return queue_; }

 private:
  Server(const ServerOptions& options, Clock& clock, Observer* observer,
         std::unique_ptr<FileLock> lock,
         std::unique_ptr<measure::JobQueue> queue);
  // Adds what is listened at; `builder` is started afterwards.
  absl::Status Listen(const ServerOptions& options,
                      grpc::ServerBuilder& builder);
  void ExpireLeases();

  Clock& clock_;
  NoObserver nobody_;
  Observer& observer_;
  const std::unique_ptr<FileLock> lock_;  // of the state
  SharedQueue queue_;
  JobsService jobs_;
  WorkersService workers_;
  std::unique_ptr<UnixListener> listener_;
  int tcp_port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::thread expirer_;
};

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_SERVER_H_
