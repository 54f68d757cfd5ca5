#include "measure/record/kill_writer.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "gtest/gtest.h"

namespace tilewright::measure {

void KillWriter(const std::function<absl::Status(int pipe)>& write,
                int acknowledged_before, int64_t delay_ns,
                std::set<uint64_t>& acknowledged, pid_t& child) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close(ends[0]);
    const absl::Status status = write(ends[1]);
    (void)fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    _exit(1);
  }
  close(ends[1]);
  uint64_t number = 0;
  for (int i = 0; i < acknowledged_before; ++i) {
    ASSERT_EQ(read(ends[0], &number, sizeof(number)), sizeof(number))
        << "the child ended by itself";
    acknowledged.insert(number);
  }
  const timespec delay = {delay_ns / 1'000'000'000, delay_ns % 1'000'000'000};
  nanosleep(&delay, nullptr);
  ASSERT_EQ(kill(child, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << status;
  while (read(ends[0], &number, sizeof(number)) == sizeof(number)) {
    acknowledged.insert(number);
  }
  close(ends[0]);
}

}  // namespace tilewright::measure
