// A Unix socket that lets in its own user: the file has mode 0600, and the
// kernel is asked who each peer is (SO_PEERCRED) before a byte of it is read.
#ifndef TILEWRIGHT_TOOLS_DAEMON_UNIX_LISTENER_H_
#define TILEWRIGHT_TOOLS_DAEMON_UNIX_LISTENER_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tilewright::daemon {

class UnixListener {
 public:
  // Takes the place of a socket that nobody listens at. AlreadyExists: somebody
  // does, or the file is no socket; InvalidArgument: the path is too long.
  static absl::StatusOr<std::unique_ptr<UnixListener>> Listen(
      const std::string& path);
  // Removes the file.
  ~UnixListener();
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

  // Calls `take` on a thread of its own with the descriptor of every connection
  // of this process's user, or of root; it is not blocking, and take's to
  // close. Others are closed. REQUIRES: called once.
  void Start(std::function<void(int descriptor)> take);
  // Accepts no more.
  void Stop();

 private:
  UnixListener(std::string path, int descriptor, int wake_read, int wake_write)
      : path_(std::move(path)),
        descriptor_(descriptor),
        wake_read_(wake_read),
        wake_write_(wake_write) {}
  void Accept(const std::function<void(int)>& take);

  const std::string path_;
  const int descriptor_, wake_read_, wake_write_;
  std::thread thread_;
};

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_UNIX_LISTENER_H_
