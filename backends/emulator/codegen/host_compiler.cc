#include "backends/emulator/codegen/host_compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/compiler_log.h"
#include "base/status_macros.h"

extern char** environ;

namespace tilewright::emulator {
namespace {

namespace fs = std::filesystem;

// A folder of its own, deleted with all that is in it.
class WorkFolder {
 public:
  static absl::StatusOr<WorkFolder> Create() {
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    std::string name = (temporary / "tilewright_XXXXXX").string();
    if (error || mkdtemp(&name[0]) == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no folder for the compiler in ", temporary.string(),
                       ": ", std::strerror(errno)));
    }
    return WorkFolder(name);
  }
  WorkFolder(WorkFolder&& other) noexcept
      : path_(std::exchange(other.path_, "")) {}
  ~WorkFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit WorkFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The exit status, or errno's value negated if it could not be started.
int Run(const std::vector<std::string>& command, const std::string& log) {
  std::vector<char*> argv;
  for (const std::string& word : command)
    argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, argv[0], &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return -error;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::vector<std::string> Flags() {
  std::vector<std::string> flags = {
      "-std=c++17", "-O1", "-pipe", "-w", "-fPIC", "-shared", "-nostdlib",
      // Every operation rounds for itself.
      "-ffp-contract=off", "-fno-math-errno", "-fno-exceptions", "-fno-rtti",
      "-fno-asynchronous-unwind-tables", "-fno-stack-protector",
      "-fno-semantic-interposition", "-Wl,-Bsymbolic", "-Wl,--build-id=none",
      "-s"};
  // In one instruction what otherwise calls libm, to the same bits.
  if (__builtin_cpu_supports("fma")) flags.push_back("-mfma");
  if (__builtin_cpu_supports("sse4.1")) flags.push_back("-msse4.1");
  return flags;
}

}  // namespace

absl::StatusOr<std::string> RunCompiler(
    const std::vector<std::string>& programs,
    const std::vector<std::string>& flags, const std::string& file_name,
    const std::string& source) {
  TW_ASSIGN_OR_RETURN(const WorkFolder folder, WorkFolder::Create());
  const std::string input = folder.File(file_name),
                    output = folder.File("output"), log = folder.File("log");
  if (!(std::ofstream(input, std::ios::binary) << source).flush()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot write ", source.size(), " bytes to ", input));
  }
  for (const std::string& program : programs) {
    std::vector<std::string> command = {program};
    command.insert(command.end(), flags.begin(), flags.end());
    command.insert(command.end(), {input, "-o", output});
    const int status = Run(command, log);
    if (status == -ENOENT || status == 127) continue;  // no such program
    if (status < 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("cannot start ", program, ": ", std::strerror(-status)));
    }
    if (status > 128) {
      return absl::ResourceExhaustedError(
          absl::StrCat(program, " was ended by signal ", status - 128));
    }
    if (status != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(program, ": ", FirstError(Contents(log))));
    }
    return Contents(output);
  }
  return absl::FailedPreconditionError(
      absl::StrCat("no C++ compiler for GPU text: install one of ",
                   absl::StrJoin(programs, ", ")));
}

absl::StatusOr<std::string> CompileSharedObject(
    const std::string& source, const HostCompilerOptions& options) {
  std::vector<std::string> flags = Flags();
  flags.insert(flags.end(), options.flags.begin(), options.flags.end());
  return RunCompiler(options.programs, flags, "kernels.cc", source);
}

}  // namespace tilewright::emulator
