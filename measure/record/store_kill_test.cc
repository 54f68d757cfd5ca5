// kill -9 of a process that writes, at random moments.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "measure/record/kill_writer.h"
#include "measure/record/store.h"
#include "measure/record/test_records.h"

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
absl::Status Write(const std::string& path, uint64_t first, int pipe) {
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, Store::Open(path));
  Random random(first);
  for (uint64_t number = first;; ++number) {
    const int size = static_cast<int>(random.UniformInt(1, 12));
    TW_RETURN_IF_ERROR(store->Append(Batch(number, size)));
    if (write(pipe, &number, sizeof(number)) != sizeof(number))
      return absl::UnavailableError("nobody listens");
  }
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
    const uint64_t first = static_cast<uint64_t>(round) * 1'000'000;
    pid_t child = 0;
    KillWriter([&](int pipe) { return Write(path, first, pipe); }, before,
               delay_ns, acknowledged, child);
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
