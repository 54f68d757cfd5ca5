// kill -9 of a process that writes, at random moments.

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "measure/store.h"
#include "measure/test_records.h"

namespace tilewright::measure {
namespace {

// A batch: `seed` is its number, and every record of it knows how many there
// are.
std::vector<Record> Batch(uint64_t number, int size) {
  std::vector<Record> batch;
  for (int i = 0; i < size; ++i) {
    batch.push_back(TestRecord(std::string(3000, 'w'), size));
    batch.back().set_seed(number);
  }
  return batch;
}

// Appends until it is killed; writes the number of each batch that was
// acknowledged to `pipe`.
[[noreturn]] void Write(const std::string& path, uint64_t first, int pipe) {
  absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(path);
  if (!store.ok()) _exit(2);
  Random random(first);
  for (uint64_t number = first;; ++number) {
    const int size = static_cast<int>(random.UniformInt(1, 12));
    if (!(*store)->Append(Batch(number, size)).ok()) _exit(3);
    if (write(pipe, &number, sizeof(number)) != sizeof(number)) _exit(4);
  }
}

void Sleep(int64_t ns) {
  const timespec duration = {ns / 1'000'000'000, ns % 1'000'000'000};
  nanosleep(&duration, nullptr);
}

// Lets a child write, kills it after `acknowledged_before` batches and
// `delay_ns` more, and adds what it acknowledged.
void WriteAndKill(const std::string& path, uint64_t first,
                  int acknowledged_before, int64_t delay_ns,
                  std::set<uint64_t>& acknowledged) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close(ends[0]);
    Write(path, first, ends[1]);
  }
  close(ends[1]);
  uint64_t number = 0;
  for (int i = 0; i < acknowledged_before; ++i) {
    ASSERT_EQ(read(ends[0], &number, sizeof(number)), sizeof(number))
        << "the child ended by itself";
    acknowledged.insert(number);
  }
  Sleep(delay_ns);
  ASSERT_EQ(kill(child, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << status;
  while (read(ends[0], &number, sizeof(number)) == sizeof(number)) {
    acknowledged.insert(number);
  }
  close(ends[0]);
}

TEST(StoreKillTest, EveryAcknowledgedRecordIsThereAndNoneInPart) {
  const char* const asked = std::getenv("TILEWRIGHT_STORE_KILLS");
  const int kills = asked == nullptr ? 20 : std::atoi(asked);
  const std::string path =
      testing::TempDir() + "/killed" + std::to_string(getpid()) + ".db";
  std::set<uint64_t> acknowledged;
  Random random(1);
  for (int round = 0; round < kills; ++round) {
    // At times before the store is open, or right after the first batch.
    const int before = static_cast<int>(random.UniformInt(0, 6));
    const int64_t delay_ns = random.UniformInt(0, 3'000'000);
    WriteAndKill(path, static_cast<uint64_t>(round) * 1'000'000, before,
                 delay_ns, acknowledged);
    if (HasFatalFailure()) return;

    TW_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Store> store,
                            Store::Open(path));
    std::map<uint64_t, int> found, whole;
    TW_ASSERT_OK(store->ForEach({}, [&](const Record& record) {
      ++found[record.seed()];
      whole[record.seed()] =
          static_cast<int>(record.measurement().latency().median_ns());
      return absl::OkStatus();
    }));
    EXPECT_EQ(found, whole) << "a batch is there in part";
    for (const uint64_t number : acknowledged) {
      EXPECT_EQ(found.count(number), 1) << "lost batch " << number;
    }
    TW_EXPECT_OK(store->CheckIntegrity());
  }
  EXPECT_GT(acknowledged.size(), static_cast<size_t>(kills));
  unlink(path.c_str());
}

}  // namespace
}  // namespace tilewright::measure
