// kill -9 of the daemon and of its workers, at random moments, while a client
// waits: it gets every result, and every result is recorded once.
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/cancellation.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "measure/record/store.h"
#include "tools/daemon/client.h"
#include "tools/daemon/daemon_measurer.h"
#include "tools/daemon/fake_measurer.h"
#include "tools/daemon/job_commands.h"
#include "tools/daemon/server.h"
#include "tools/daemon/worker.h"

namespace tilewright::daemon {
namespace {

constexpr int kCandidates = 150;
constexpr int kCandidateUs = 4'000;
constexpr int kKills = 15;

// The processes that are killed: this binary, with other arguments.

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

int Work(const std::string& address) {
  FakeMeasurer measurer;
  measurer.before = [](int, measure::Measurement&) { usleep(kCandidateUs); };
  WorkerOptions options;
  options.made = FakeMade();
  options.most_tasks = 8;
  const Cancellation never;
  const absl::Status status =
      RunWorker(options, *ConnectTo(address), measurer, *RealClock(), never);
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

pid_t Spawn(std::vector<std::string> arguments) {
  std::string name = "daemon_kill_test";
  std::vector<char*> argv = {name.data()};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  EXPECT_EQ(posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, argv.data(),
                        environ),
            0);
  return pid;
}

void Kill(pid_t pid) {
  EXPECT_EQ(kill(pid, SIGKILL), 0);
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself: " << status;
}

TEST(DaemonKillTest, EveryResultComesAndIsRecordedOnce) {
  char folder[] = "/tmp/tilewrightd_XXXXXX";
  const std::string home = mkdtemp(folder);
  const std::string address = absl::StrCat("unix:", home, "/socket");
  const std::vector<std::vector<std::string>> commands = {
      {"--serve", address, home + "/state"},
      {"--work", address},
      {"--work", address}};
  std::vector<pid_t> processes;
  for (const auto& command : commands) processes.push_back(Spawn(command));

  DaemonJob job;
  job.key = "job";
  job.most_tasks = kCandidates;
  job.device = FakeMade().device();
  job.code_generation = FakeMade().versions().code_generation();
  TW_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<DaemonMeasurer> client,
                          DaemonMeasurer::Open(*ConnectTo(address), job));
  std::atomic<bool> over{false};
  absl::StatusOr<std::vector<measure::Measurement>> results;
  std::thread waiting([&] {
    results = client->Measure(FakeKey("conv"), FakeCandidates(1, kCandidates));
    over = true;
  });
  // Processes end with the thread that made them: this one.
  int kills = 0;
  for (Random random(1); !over && kills < kKills; ++kills) {
    usleep(static_cast<useconds_t>(random.UniformInt(5'000, 60'000)));
    const size_t victim = random.Index(commands.size());
    Kill(processes[victim]);
    processes[victim] = Spawn(commands[victim]);
  }
  waiting.join();
  TW_EXPECT_OK(results);
  for (int i = 0; results.ok() && i < kCandidates; ++i) {
    EXPECT_EQ((*results)[static_cast<size_t>(i)].latency().median_ns(), i + 1);
  }
  EXPECT_GT(kills, 2);

  const std::string db = home + "/records.db";
  {
    TW_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<measure::Store> store,
                            measure::Store::Open(db));
    for (const int expected : {kCandidates, 0}) {
      TW_ASSERT_OK_AND_ASSIGN(const measure::AddedRecords added,
                              ExportRecords(*ConnectTo(address), *store));
      EXPECT_EQ(added.added, expected);
      EXPECT_EQ(added.present, kCandidates - expected);
    }
    std::set<std::string> tasks;
    TW_ASSERT_OK(store->ForEach({}, [&](const measure::Record& record) {
      EXPECT_TRUE(tasks.insert(record.task_id()).second) << "doubled";
      return absl::OkStatus();
    }));
    EXPECT_EQ(tasks.size(), kCandidates);
  }
  for (const pid_t process : processes) Kill(process);
  std::system(("rm -rf " + home).c_str());
}

}  // namespace
}  // namespace tilewright::daemon

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() &&
      (arguments[0] == "--serve" || arguments[0] == "--work")) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return arguments[0] == "--serve"
               ? tilewright::daemon::Serve(arguments[1], arguments[2])
               : tilewright::daemon::Work(arguments[1]);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
