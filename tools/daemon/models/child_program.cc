#include "tools/daemon/models/child_program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

extern char** environ;

namespace tilewright::daemon {
namespace {

constexpr char kChild[] = "--child-program";
constexpr int kPollUs = 20'000;
// What does not end when it is interrupted is killed.
constexpr int kMostPollsAfterStop = 1500;

std::string LastLine(const std::string& path) {
  std::ifstream file(path);
  std::string line, last;
  while (std::getline(file, line)) {
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace

// ... --child-program PARENT PROGRAM ARGUMENTS
void RunChildIfAsked(int argc, char** argv) {
  if (argc < 4 || absl::string_view(argv[1]) != kChild) return;
  int parent = 0;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have ended before.
  if (!absl::SimpleAtoi(argv[2], &parent) || getppid() != parent) _exit(1);
  execv(argv[3], argv + 3);
  std::printf("%s: %s\n", argv[3], strerror(errno));
  std::exit(1);
}

absl::Status RunChild(const std::vector<std::string>& command,
                      const std::string& output, const Cancellation& interrupt,
                      const Cancellation& end) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, output.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  std::vector<std::string> words = {"tilewrightd", kChild,
                                    absl::StrCat(getpid())};
  words.insert(words.end(), command.begin(), command.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawn(&child, "/proc/self/exe", &files, nullptr,
                                argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrCat(command[0], ": cannot be started: ", strerror(error)));
  }
  int status = 0;
  for (int polls_after_stop = 0; waitpid(child, &status, WNOHANG) == 0;) {
    if (interrupt.cancelled() && polls_after_stop++ == 0) kill(child, SIGINT);
    if (end.cancelled() || polls_after_stop == kMostPollsAfterStop)
      kill(child, SIGKILL);
    usleep(kPollUs);
  }
  if (interrupt.cancelled() || end.cancelled())
    return absl::CancelledError("interrupted");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  const std::string last = LastLine(output);
  if (!last.empty()) return absl::UnavailableError(last);
  return absl::UnavailableError(absl::StrCat(
      command[0], WIFSIGNALED(status)
                      ? absl::StrCat(": signal ", WTERMSIG(status))
                      : absl::StrCat(": status ", WEXITSTATUS(status))));
}

}  // namespace tilewright::daemon
