#include "measure/worker/fake/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace tilewright::fake {
namespace {

// Empty if it is gone, or goes while it is read.
std::string ReadAll(const std::string& path) {
  std::string text;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  char part[4096];
  for (ssize_t size; (size = read(file, part, sizeof(part))) > 0;)
    text.append(part, static_cast<size_t>(size));
  close(file);
  return text;
}

std::vector<std::string> Entries(const char* directory) {
  std::vector<std::string> names;
  DIR* const opened = opendir(directory);
  while (const dirent* entry = readdir(opened)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  closedir(opened);
  return names;
}

}  // namespace

std::vector<pid_t> WorkersOf(pid_t parent) {
  // A zombie has no command line.
  std::string command = "tilewright-worker";
  command += '\0';
  command += "--tilewright-worker-of=" + std::to_string(parent);
  command += '\0';
  std::vector<pid_t> workers;
  for (const std::string& name : Entries("/proc")) {
    const int pid = std::atoi(name.c_str());
    if (pid > 0 && ReadAll("/proc/" + name + "/cmdline") == command) {
      workers.push_back(pid);
    }
  }
  return workers;
}

bool WorkersEnd(pid_t parent, double limit_s) {
  constexpr int kPauseUs = 10000;
  for (int i = 0; i * kPauseUs < limit_s * 1e6; ++i) {
    if (WorkersOf(parent).empty()) return true;
    usleep(kPauseUs);
  }
  return false;
}

int OpenDescriptors() {
  return static_cast<int>(Entries("/proc/self/fd").size());
}

}  // namespace tilewright::fake
