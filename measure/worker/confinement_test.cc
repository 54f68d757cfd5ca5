#include "measure/worker/confinement.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <vector>

#include "base/sanitizers.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/verify/isolated_run.h"

namespace tilewright::measure {
namespace {

using Kind = IsolatedOutcome::Kind;

constexpr double kLimitS = 60;

// In a child that is confined; Unimplemented where there is no filter.
IsolatedOutcome Confined(const std::function<absl::Status()>& work,
                         bool may_open_devices = false) {
  return RunIsolated(
      [&] {
        const absl::Status forbidden = ForbidSystemCalls(may_open_devices);
        return forbidden.ok() ? work() : forbidden;
      },
      kLimitS);
}

absl::Status Wrong(const char* what) { return absl::InternalError(what); }

#define SKIP_WITHOUT_FILTER(outcome)             \
  if (absl::IsUnimplemented((outcome).status)) { \
    GTEST_SKIP() << (outcome).status.message();  \
  }

TEST(ConfinementTest, ForbiddenCallsEndTheProcess) {
  const std::vector<std::function<void()>> calls = {
      [] { execl("/bin/true", "true", nullptr); },
      [] { (void)socket(AF_INET, SOCK_STREAM, 0); },
      [] { (void)unlink("/nonexistent"); },
      [] { (void)kill(getpid(), 0); },
  };
  for (size_t i = 0; i < calls.size(); ++i) {
    const IsolatedOutcome outcome = Confined([&] {
      calls[i]();
      return absl::OkStatus();
    });
    SKIP_WITHOUT_FILTER(outcome);
    EXPECT_EQ(outcome.kind, Kind::kDied) << i;
    EXPECT_EQ(outcome.signal, SIGSYS) << i;
  }
}

TEST(ConfinementTest, FilesOpenForReadingOnly) {
  for (const bool may_open_devices : {false, true}) {
    const IsolatedOutcome outcome = Confined(
        [&] {
          if (open("/dev/null", O_RDONLY) < 0) return Wrong("reading");
          const bool opens = open("/dev/null", O_WRONLY) >= 0;
          if (opens != may_open_devices) return Wrong("writing");
          return absl::OkStatus();
        },
        may_open_devices);
    SKIP_WITHOUT_FILTER(outcome);
    TW_EXPECT_OK(outcome.status);
  }
}

TEST(ConfinementTest, ChildrenThreadsAndMemoryAreAllowed) {
  const IsolatedOutcome outcome = Confined([] {
    const pid_t child = fork();
    if (child == 0) _exit(7);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return Wrong("child");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) return Wrong("exit");
    const auto memory = std::make_unique<std::vector<char>>(1 << 24);
    return memory->empty() ? Wrong("memory") : absl::OkStatus();
  });
  SKIP_WITHOUT_FILTER(outcome);
  TW_EXPECT_OK(outcome.status);
}

TEST(ConfinementTest, RunningOutOfAddressSpaceIsAnExitStatus) {
  if (kHasShadowMemory) GTEST_SKIP() << "not in builds with this sanitizer";
  const IsolatedOutcome outcome = RunIsolated(
      [] {
        ExitWhenOutOfMemory();
        LimitResources(int64_t{1} << 32);
        std::vector<std::unique_ptr<char[]>> memory;
        for (int i = 0; i < 1000; ++i) {
          memory.push_back(std::unique_ptr<char[]>(new char[size_t{1} << 28]));
        }
        return absl::OkStatus();
      },
      kLimitS);
  EXPECT_EQ(outcome.kind, Kind::kDied);
  EXPECT_THAT(outcome.status.message(), testing::HasSubstr("exit status 112"));
}

}  // namespace
}  // namespace tilewright::measure
