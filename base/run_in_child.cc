#include "base/run_in_child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace tilewright {
namespace {

// A child writes a status code, one byte, and the value or the message.
void WriteAll(int file, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t written = write(file, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    bytes += written;
    size -= static_cast<size_t>(written);
  }
}

std::string ReadAll(int file) {
  std::string all;
  std::array<char, 1 << 16> part;
  while (true) {
    const ssize_t count = read(file, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return all;
    all.append(part.data(), static_cast<size_t>(count));
  }
}

[[noreturn]] void BeChild(
    int file, unsigned limit_seconds,
    const std::function<absl::StatusOr<std::string>()>& work) {
  // Libraries that abort say so in their own words.
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere >= 0) {
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
  }
  signal(SIGALRM, SIG_DFL);
  alarm(limit_seconds);
  const absl::StatusOr<std::string> result = work();
  const char code = static_cast<char>(result.status().code());
  WriteAll(file, &code, 1);
  const std::string text =
      result.ok() ? *result : std::string(result.status().message());
  WriteAll(file, text.data(), text.size());
  _exit(0);
}

}  // namespace

absl::StatusOr<std::string> RunInChild(
    const std::string& what, unsigned limit_seconds,
    const std::function<absl::StatusOr<std::string>()>& work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat(what, ": no pipe: ", std::strerror(errno)));
  }
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    BeChild(ends[1], limit_seconds, work);
  }
  const int fork_error = errno;
  close(ends[1]);
  const std::string answer = child > 0 ? ReadAll(ends[0]) : "";
  close(ends[0]);
  if (child < 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat(what, ": no process: ", std::strerror(fork_error)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    if (WTERMSIG(status) == SIGALRM) {
      return absl::DeadlineExceededError(
          absl::StrCat(what, " took longer than ", limit_seconds, " s"));
    }
    return absl::AbortedError(absl::StrCat(what, " was ended by signal ",
                                           WTERMSIG(status), ", ",
                                           strsignal(WTERMSIG(status))));
  }
  if (answer.empty()) {
    return absl::AbortedError(absl::StrCat(
        what, " ended without an answer, status ", WEXITSTATUS(status)));
  }
  const auto code = static_cast<absl::StatusCode>(answer[0]);
  if (code == absl::StatusCode::kOk) return answer.substr(1);
  return absl::Status(code, answer.substr(1));
}

}  // namespace tilewright
