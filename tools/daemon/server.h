// The daemon: its queue, its services, and the socket they are reached at.
#ifndef TILEWRIGHT_TOOLS_DAEMON_SERVER_H_
#define TILEWRIGHT_TOOLS_DAEMON_SERVER_H_

#include <grpcpp/server.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "measure/jobs/job_queue.h"
#include "tools/daemon/file_lock.h"
#include "tools/daemon/service.h"
#include "tools/daemon/shared_queue.h"
#include "tools/daemon/unix_listener.h"

namespace tilewright::daemon {

struct ServerOptions {
  std::string listen;  // "unix:PATH"
  std::string state;   // a folder of this user; made if it is not there
  measure::JobQueueOptions queue;  // with a name: of a new state
  ServiceLimits limits;
  int most_message_bytes = 64 << 20;
  int most_threads = 512;  // every worker and every watcher waits in one
};

// A new name for a state: random, so that leases of two daemons differ.
std::string RandomName();

class Server {
 public:
  // Serves until it is destroyed. AlreadyExists: another daemon has the state
  // or the socket. Errors of the queue and of the socket. `clock` must outlive
  // it, and be thread-safe.
  static absl::StatusOr<std::unique_ptr<Server>> Start(
      const ServerOptions& options, Clock& clock);
  // Ends all calls. What was acknowledged is on the disk.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

 private:
  Server(const ServerOptions& options, Clock& clock,
         std::unique_ptr<FileLock> lock,
         std::unique_ptr<measure::JobQueue> queue);
  void ExpireLeases();

  Clock& clock_;
  const std::unique_ptr<FileLock> lock_;  // of the state
  SharedQueue queue_;
  JobsService jobs_;
  WorkersService workers_;
  std::unique_ptr<UnixListener> listener_;
  std::unique_ptr<grpc::Server> server_;
  std::thread expirer_;
};

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_SERVER_H_
