// This binary, executed again as a child that ends with its parent.
#ifndef TILEWRIGHT_MEASURE_WORKER_CHILD_PROCESS_H_
#define TILEWRIGHT_MEASURE_WORKER_CHILD_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace tilewright::measure {

// The first argument of a child's main: kWorkerFlag and its parent.
inline constexpr char kWorkerFlag[] = "--tilewright-worker-of=";
// The child's end of the socket.
inline constexpr int kWorkerDescriptor = 3;

// How a process ended.
struct Ending {
  int signal = 0;  // 0: it exited
  int exit_status = 0;
  bool killed = false;  // as it did not end; then the others say nothing
  std::string ToString() const;  // "died of Segmentation fault"
};

// A running child: it has standard error, the socket, and no other descriptor
// of this process. It gets SIGKILL when the thread that made it ends: use it on
// a thread that lives as long.
class ChildProcess {
 public:
  // Unavailable if there is no process or descriptor to be had.
  static absl::StatusOr<ChildProcess> Start();
  ChildProcess() = default;
  ~ChildProcess() { (void)End(); }
  ChildProcess(ChildProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)),
        socket_(std::exchange(other.socket_, -1)) {}
  ChildProcess& operator=(ChildProcess&&) = delete;

  pid_t pid() const { return pid_; }
  // This process's end, which does not wait. The caller takes it over.
  int TakeSocket() { return std::exchange(socket_, -1); }

  void Signal(int signal);

  // Waits for the end of one that is ending, at most `grace_s`, then kills it.
  Ending End(double grace_s = 0);

 private:
  ChildProcess(pid_t pid, int socket) : pid_(pid), socket_(socket) {}
  pid_t pid_ = 0;
  int socket_ = -1;
};

// In main: whether this process is such a child. Ends it if its parent is gone
// already.
bool IsWorker(int argc, char** argv);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_WORKER_CHILD_PROCESS_H_
