// kill -9 of the daemon and of its workers, at random moments, while a client
// waits: it gets every result, and every result is recorded once.
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "measure/record/store.h"
#include "tools/daemon/client.h"
#include "tools/daemon/daemon_measurer.h"
#include "tools/daemon/daemon_processes.h"
#include "tools/daemon/fake_measurer.h"
#include "tools/daemon/job_commands.h"

namespace tilewright::daemon {
namespace {

constexpr int kCandidates = 150;
constexpr int kCandidateUs = 4'000;
constexpr int kKills = 15;

TEST(DaemonKillTest, EveryResultComesAndIsRecordedOnce) {
  char folder[] = "/tmp/tilewrightd_XXXXXX";
  const std::string home = mkdtemp(folder);
  const std::string address = absl::StrCat("unix:", home, "/socket");
  const std::vector<std::vector<std::string>> commands = {
      ServeCommand(address, home + "/state"), WorkCommand(address),
      WorkCommand(address)};
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
    EXPECT_TRUE(Kill(processes[victim])) << "it ended by itself";
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
                              ExportRecords(*ConnectTo(address), {}, *store));
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
  EXPECT_EQ(std::system(("rm -rf " + home).c_str()), 0);
}

}  // namespace
}  // namespace tilewright::daemon

int main(int argc, char** argv) {
  tilewright::daemon::RunProcessIfAsked(
      argc, argv, [](int, tilewright::measure::Measurement&) {
        usleep(tilewright::daemon::kCandidateUs);
      });
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
