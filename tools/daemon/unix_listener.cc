#include "tools/daemon/unix_listener.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tilewright::daemon {
namespace {

constexpr int kBacklog = 128;
// Where descriptors or memory are short for a moment.
constexpr int kPauseUs = 20'000;

absl::Status Failed(const std::string& path, absl::string_view what) {
  return absl::UnavailableError(
      absl::StrCat("socket ", path, ": ", what, ": ", strerror(errno)));
}

absl::StatusOr<sockaddr_un> AddressOf(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "socket ", path, ": a path of more than ", sizeof(address.sun_path) - 1,
        " bytes; give a shorter one"));
  }
  memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// Removes a socket that a killed process left. AlreadyExists if it is none.
absl::Status RemoveLeftOver(const std::string& path,
                            const sockaddr_un& address) {
  struct stat file = {};
  if (lstat(path.c_str(), &file) != 0) return absl::OkStatus();
  if (!S_ISSOCK(file.st_mode)) {
    return absl::AlreadyExistsError(
        absl::StrCat("socket ", path, ": there is a file; give another path"));
  }
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool answered =
      connect(probe, reinterpret_cast<const sockaddr*>(&address),
              sizeof(address)) == 0;
  close(probe);
  if (answered) {
    return absl::AlreadyExistsError(absl::StrCat(
        "socket ", path, ": a daemon listens there already; stop it first"));
  }
  if (unlink(path.c_str()) != 0) return Failed(path, "cannot be removed");
  return absl::OkStatus();
}

bool IsFriend(int descriptor) {
  ucred peer = {};
  socklen_t size = sizeof(peer);
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return false;
  }
  return peer.uid == geteuid() || peer.uid == 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<UnixListener>> UnixListener::Listen(
    const std::string& path) {
  TW_ASSIGN_OR_RETURN(const sockaddr_un address, AddressOf(path));
  TW_RETURN_IF_ERROR(RemoveLeftOver(path, address));
  const int descriptor =
      socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return Failed(path, "there is no descriptor for it");
  // The mode is right from the first moment.
  const mode_t before = umask(0177);
  const int bound = bind(
      descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  umask(before);
  int wake[2] = {-1, -1};
  if (bound != 0 || listen(descriptor, kBacklog) != 0 ||
      pipe2(wake, O_CLOEXEC) != 0) {
    const absl::Status failed = Failed(path, "cannot be listened at");
    close(descriptor);
    return failed;
  }
  return std::unique_ptr<UnixListener>(
      new UnixListener(path, descriptor, wake[0], wake[1]));
}

void UnixListener::Accept(const std::function<void(int)>& take) {
  pollfd polled[] = {{descriptor_, POLLIN, 0}, {wake_read_, POLLIN, 0}};
  while (true) {
    if (poll(polled, 2, -1) < 0) continue;
    if (polled[1].revents != 0) return;
    const int peer =
        accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (peer < 0) {
      if (errno != EAGAIN && errno != ECONNABORTED) usleep(kPauseUs);
      continue;
    }
    if (IsFriend(peer)) {
      take(peer);
    } else {
      close(peer);
    }
  }
}

void UnixListener::Start(std::function<void(int)> take) {
  thread_ = std::thread([this, take = std::move(take)] { Accept(take); });
}

void UnixListener::Stop() {
  if (!thread_.joinable()) return;
  (void)!write(wake_write_, "", 1);
  thread_.join();
}

UnixListener::~UnixListener() {
  Stop();
  unlink(path_.c_str());
  for (const int descriptor : {descriptor_, wake_read_, wake_write_}) {
    close(descriptor);
  }
}

}  // namespace tilewright::daemon
