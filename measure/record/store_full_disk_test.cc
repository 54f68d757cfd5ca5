#include <unistd.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "measure/record/full_disk_vfs.h"
#include "measure/record/store.h"
#include "measure/record/test_records.h"

namespace tilewright::measure {
namespace {

using ::absl::StatusCode;

StoreOptions OnFullDisk() {
  StoreOptions options;
  options.vfs = FullDiskVfs::Get().name();
  return options;
}

std::string FreshPath() {
  const std::string path =
      testing::TempDir() + "/full_disk" + std::to_string(getpid()) + ".db";
  for (const char* suffix : {"", "-wal", "-shm"}) {
    unlink((path + suffix).c_str());
  }
  return path;
}

// Three records of 7 KiB, so that every batch takes several pages.
std::vector<Record> Batch(uint64_t number) {
  std::vector<Record> batch;
  for (int i = 0; i < 3; ++i) {
    batch.push_back(TestRecord(std::string(7000, 'w'), 100));
    batch.back().set_seed(number);
  }
  return batch;
}

// The batches there; fails if one is there in part.
std::set<uint64_t> Batches(Store& store) {
  std::multiset<uint64_t> found;
  TW_EXPECT_OK(store.ForEach({}, [&](const Record& record) {
    found.insert(record.seed());
    return absl::OkStatus();
  }));
  for (const uint64_t number : found) EXPECT_EQ(found.count(number), 3);
  return {found.begin(), found.end()};
}

// The disk fills up after a growing number of pages: while the store is
// created, or in the middle of a batch.
TEST(StoreFullDiskTest, NothingAcknowledgedIsLostAndNothingIsThereInPart) {
  FullDiskVfs& disk = FullDiskVfs::Get();
  int failed_opens = 0, failed_appends = 0;
  for (int64_t room_bytes = 0; room_bytes < 350'000;
       room_bytes += room_bytes < 60'000 ? 4096 + 17 : 4 * 4096 + 17) {
    const std::string path = FreshPath();
    std::set<uint64_t> acknowledged;
    uint64_t number = 0;
    disk.room_bytes = room_bytes;
    absl::StatusOr<std::unique_ptr<Store>> store =
        Store::Open(path, OnFullDisk());
    if (!store.ok()) {
      ++failed_opens;
      EXPECT_THAT(store,
                  StatusIs(StatusCode::kResourceExhausted, "the disk is full"));
      disk.room_bytes = FullDiskVfs::kUnlimited;
      store = Store::Open(path, OnFullDisk());
      TW_ASSERT_OK(store);
    }
    for (; number < 12; ++number) {
      const absl::Status status = (*store)->Append(Batch(number));
      if (status.ok()) {
        acknowledged.insert(number);
        continue;
      }
      ++failed_appends;
      EXPECT_THAT(status,
                  StatusIs(StatusCode::kResourceExhausted, "the disk is full"));
      EXPECT_EQ(Batches(**store), acknowledged) << "still full";
    }
    disk.room_bytes = FullDiskVfs::kUnlimited;
    EXPECT_EQ(Batches(**store), acknowledged);
    // The same store goes on when there is room again.
    TW_ASSERT_OK((*store)->Append(Batch(number)));
    acknowledged.insert(number);
    *store = nullptr;
    TW_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Store> reopened,
                            Store::Open(path));
    EXPECT_EQ(Batches(*reopened), acknowledged) << room_bytes;
    TW_EXPECT_OK(reopened->CheckIntegrity());
  }
  EXPECT_GT(failed_opens, 3);
  EXPECT_GT(failed_appends, 50);
  EXPECT_GT(disk.refused_writes, failed_appends);
}

// The process ends while the disk is still full: nothing can be tidied up.
TEST(StoreFullDiskTest, AStoreClosedOnAFullDiskHoldsWhatWasAcknowledged) {
  FullDiskVfs& disk = FullDiskVfs::Get();
  for (int64_t room_bytes = 40'000; room_bytes < 400'000;
       room_bytes += 8 * 4096 + 17) {
    const std::string path = FreshPath();
    std::set<uint64_t> acknowledged;
    {
      TW_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Store> store,
                              Store::Open(path, OnFullDisk()));
      disk.room_bytes = room_bytes;
      for (uint64_t number = 0; number < 12; ++number) {
        if (store->Append(Batch(number)).ok()) acknowledged.insert(number);
      }
      EXPECT_LT(acknowledged.size(), 12);
    }
    disk.room_bytes = FullDiskVfs::kUnlimited;
    TW_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Store> reopened,
                            Store::Open(path));
    EXPECT_EQ(Batches(*reopened), acknowledged) << room_bytes;
    TW_EXPECT_OK(reopened->CheckIntegrity());
  }
}

// SQLite moves its log into the file once it has 1000 pages (4 MB), which takes
// as much room again.
TEST(StoreFullDiskTest, TheDiskFillsUpWhileTheLogIsMovedIntoTheFile) {
  FullDiskVfs& disk = FullDiskVfs::Get();
  for (const int64_t room_bytes : {4'500'000, 5'500'000, 7'500'000}) {
    const std::string path = FreshPath();
    std::set<uint64_t> acknowledged;
    {
      TW_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Store> store,
                              Store::Open(path, OnFullDisk()));
      disk.room_bytes = room_bytes;
      for (uint64_t number = 0; number < 30; ++number) {
        std::vector<Record> batch(3, TestRecord(std::string(100'000, 'w'), 1));
        for (Record& record : batch) record.set_seed(number);
        if (store->Append(batch).ok()) acknowledged.insert(number);
      }
      EXPECT_GT(acknowledged.size(), 12);
      EXPECT_LT(acknowledged.size(), 30);
      EXPECT_EQ(Batches(*store), acknowledged);
    }
    disk.room_bytes = FullDiskVfs::kUnlimited;
    TW_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Store> reopened,
                            Store::Open(path));
    EXPECT_EQ(Batches(*reopened), acknowledged) << room_bytes;
    TW_EXPECT_OK(reopened->CheckIntegrity());
  }
}

}  // namespace
}  // namespace tilewright::measure
