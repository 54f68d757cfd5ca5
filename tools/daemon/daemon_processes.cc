#include "tools/daemon/daemon_processes.h"

#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/cancellation.h"
#include "base/check.h"
#include "base/clock.h"
#include "tools/daemon/client.h"
#include "tools/daemon/fake_measurer.h"
#include "tools/daemon/server.h"
#include "tools/daemon/worker.h"

namespace tilewright::daemon {
namespace {

constexpr char kServe[] = "--serve", kWork[] = "--work";

int Serve(const std::string& address, const std::string& state) {
  ServerOptions options;
  options.listen = {address};
  options.state = state;
  options.queue.name = "test";
  options.queue.lease_ns = 300'000'000;
  options.queue.most_losses = 1000;  // kills are nobody's fault
  const absl::StatusOr<std::unique_ptr<Server>> server =
      Server::Start(options, *RealClock());
  if (!server.ok()) {
    std::fprintf(stderr, "%s\n", server.status().ToString().c_str());
    return 1;
  }
  while (true) pause();
}

int Work(const std::string& address, const Behaviour& behaviour) {
  FakeMeasurer measurer;
  measurer.before = behaviour;
  WorkerOptions options;
  options.made = FakeMade();
  options.most_tasks = 8;
  const Cancellation never;
  const absl::Status status = RunWorker(
      options, *ConnectTo(address), [&](auto) { return &measurer; },
      *RealClock(), never);
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

}  // namespace

void RunProcessIfAsked(int argc, char** argv, const Behaviour& behaviour) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty() || (arguments[0] != kServe && arguments[0] != kWork))
    return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  exit(arguments[0] == kServe ? Serve(arguments[1], arguments[2])
                              : Work(arguments[1], behaviour));
}

std::vector<std::string> ServeCommand(const std::string& address,
                                      const std::string& state) {
  return {kServe, address, state};
}

std::vector<std::string> WorkCommand(const std::string& address) {
  return {kWork, address};
}

pid_t Spawn(const std::vector<std::string>& command) {
  std::vector<std::string> words = command;
  words.insert(words.begin(), "process");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  TW_CHECK_EQ(posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, argv.data(),
                          environ),
              0);
  return pid;
}

bool Kill(pid_t pid) {
  TW_CHECK_EQ(kill(pid, SIGKILL), 0);
  int status = 0;
  TW_CHECK_EQ(waitpid(pid, &status, 0), pid);
  return WIFSIGNALED(status);
}

}  // namespace tilewright::daemon
