#include "measure/worker/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"

namespace tilewright::measure {
namespace {

constexpr int kExecFailed = 127;

void CloseFrom(int first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  for (int fd = first; fd < static_cast<int>(limit.rlim_cur); ++fd) close(fd);
}

// Between fork and exec: only what a signal handler may do, as other threads
// may have held locks.
[[noreturn]] void BecomeWorker(int socket, pid_t parent, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kExecFailed);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  const int null = open("/dev/null", O_RDONLY);
  if (null >= 0) dup2(null, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  if (socket == kWorkerDescriptor) {
    fcntl(socket, F_SETFD, 0);
  } else if (dup2(socket, kWorkerDescriptor) < 0) {
    _exit(kExecFailed);
  }
  CloseFrom(kWorkerDescriptor + 1);
  execv("/proc/self/exe", argv);
  _exit(kExecFailed);
}

}  // namespace

std::string Ending::ToString() const {
  if (killed) return "did not end";
  if (signal != 0) return absl::StrCat("died of ", strsignal(signal));
  return absl::StrCat("ended with exit status ", exit_status);
}

absl::StatusOr<ChildProcess> ChildProcess::Start() {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return absl::UnavailableError(
        absl::StrCat("no socket for a worker: ", strerror(errno)));
  }
  std::string name = "tilewright-worker";
  std::string flag = absl::StrCat(kWorkerFlag, getpid());
  char* argv[] = {name.data(), flag.data(), nullptr};
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) BecomeWorker(sockets[1], parent, argv);
  const int error = errno;
  close(sockets[1]);
  if (pid < 0) {
    close(sockets[0]);
    return absl::UnavailableError(
        absl::StrCat("no process for a worker: ", strerror(error)));
  }
  return ChildProcess(pid, sockets[0]);
}

void ChildProcess::Signal(int signal) {
  if (pid_ > 0) kill(pid_, signal);
}

Ending ChildProcess::End(double grace_s) {
  if (socket_ >= 0) close(std::exchange(socket_, -1));
  Ending ending;
  if (pid_ <= 0) return ending;
  constexpr int kPauseUs = 200;
  int status = 0;
  const int64_t until_ns =
      RealClock()->WallNs() + static_cast<int64_t>(grace_s * 1e9);
  pid_t ended = 0;
  while (true) {
    ended = waitpid(pid_, &status, WNOHANG);
    if (ended != 0 || RealClock()->WallNs() >= until_ns) break;
    usleep(kPauseUs);
  }
  if (ended == 0) {
    kill(pid_, SIGKILL);
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = 0;
  ending.killed = ended == 0;
  if (ended == 0) return ending;
  if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
  if (WIFEXITED(status)) ending.exit_status = WEXITSTATUS(status);
  return ending;
}

bool IsWorker(int argc, char** argv) {
  if (argc != 2 || !absl::StartsWith(argv[1], kWorkerFlag)) return false;
  const long parent = std::strtol(argv[1] + strlen(kWorkerFlag), nullptr, 10);
  if (getppid() != parent) _exit(kExecFailed);
  return true;
}

}  // namespace tilewright::measure
