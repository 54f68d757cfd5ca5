#include "tools/daemon/slurm/run_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

extern char** environ;

namespace tilewright::daemon {

absl::StatusOr<std::string> RunProgram(
    const std::vector<std::string>& command) {
  const auto failed = [&](const std::string& why) {
    return absl::UnavailableError(absl::StrCat(command[0], ": ", why));
  };
  int output[2];
  if (pipe2(output, O_CLOEXEC) != 0) return failed(strerror(errno));
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output[1], 1);
  posix_spawn_file_actions_adddup2(&files, output[1], 2);
  std::vector<char*> argv;
  for (const std::string& word : command)
    argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, argv[0], &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  close(output[1]);
  std::string text;
  char bytes[4096];
  while (error == 0) {
    const ssize_t count = read(output[0], bytes, sizeof(bytes));
    if (count > 0) text.append(bytes, static_cast<size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) break;
  }
  close(output[0]);
  if (error != 0) return failed(strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (status == 0) return text;
  return failed(text.empty() ? absl::StrCat("ended with status ", status)
                             : text.substr(0, text.find('\n')));
}

std::string ShellWord(const std::string& bytes) {
  return absl::StrCat("'", absl::StrReplaceAll(bytes, {{"'", "'\\''"}}), "'");
}

}  // namespace tilewright::daemon
