#include "measure/record/store.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/file.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/record/task_id.h"
#include "measure/record/test_records.h"

namespace tilewright::measure {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A path of this test's own, with nothing there yet.
std::string FreshPath(const std::string& name = "records.db") {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  const std::string folder =
      testing::TempDir() + "/" + info->name() + std::to_string(getpid());
  mkdir(folder.c_str(), 0700);
  const std::string path = folder + "/" + name;
  for (const char* suffix : {"", "-wal", "-shm"}) {
    unlink((path + suffix).c_str());
  }
  return path;
}

std::unique_ptr<Store> MustOpen(const std::string& path) {
  absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(path);
  TW_EXPECT_OK(store);
  return store.ok() ? *std::move(store) : nullptr;
}

std::vector<double> Medians(Store& store, const StoreQuery& query = {}) {
  std::vector<double> medians;
  TW_EXPECT_OK(store.ForEach(query, [&](const Record& record) {
    medians.push_back(record.measurement().latency().median_ns());
    return absl::OkStatus();
  }));
  return medians;
}

// Statements on the file itself, behind the store's back.
void Sql(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr),
            SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
}

std::string Bytes(const std::string& path) {
  absl::StatusOr<std::string> bytes = ReadFile(path, int64_t{1} << 30);
  TW_EXPECT_OK(bytes);
  return *bytes;
}

TEST(StoreTest, RecordsSurviveClosing) {
  const std::string path = FreshPath();
  const Record record = TestRecord("w", 100);
  TW_ASSERT_OK(MustOpen(path)->Append(record));
  std::vector<Record> found;
  TW_ASSERT_OK(MustOpen(path)->ForEach({}, [&](const Record& r) {
    found.push_back(r);
    return absl::OkStatus();
  }));
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].SerializeAsString(), record.SerializeAsString());
}

TEST(StoreTest, ANewStoreIsEmpty) {
  const std::unique_ptr<Store> store = MustOpen(FreshPath());
  EXPECT_THAT(Medians(*store), IsEmpty());
  TW_ASSERT_OK_AND_ASSIGN(const StoreStats stats, store->Stats());
  EXPECT_EQ(stats.records, 0);
  EXPECT_THAT(store->Best(KeyOfText("w"), TestDevice()),
              StatusIs(StatusCode::kNotFound, "tune it first"));
  TW_EXPECT_OK(store->CheckIntegrity());
}

TEST(StoreTest, BestIsTheVerifiedOneWithTheSmallestMedian) {
  const std::unique_ptr<Store> store = MustOpen(FreshPath());
  Record unverified = TestRecord("w", 10);
  unverified.mutable_measurement()->clear_verification();
  Record elsewhere = TestRecord("w", 20);
  elsewhere.mutable_device()->set_structure_fingerprint(
      KeyOfText("other device").fingerprint());
  TW_ASSERT_OK(store->Append({TestRecord("w", 300), unverified, elsewhere,
                              TestRecord("v", 30), TestRecord("w", 200),
                              FailedTestRecord("w", Measurement::TIMEOUT),
                              TestRecord("w", 250)}));
  TW_ASSERT_OK_AND_ASSIGN(const Record best,
                          store->Best(KeyOfText("w"), TestDevice()));
  EXPECT_EQ(best.measurement().latency().median_ns(), 200);
}

TEST(StoreTest, OfEqualMediansTheSameOneIsBestInEveryOrder) {
  Record a = TestRecord("w", 100), b = a, c = a;
  b.set_seed(1);
  c.set_seed(2);
  std::string first;
  for (const std::vector<Record>& order :
       {std::vector<Record>{a, b, c}, {c, b, a}, {b, c, a}}) {
    const std::unique_ptr<Store> store = MustOpen(FreshPath());
    TW_ASSERT_OK(store->Append(order));
    TW_ASSERT_OK_AND_ASSIGN(const Record best,
                            store->Best(KeyOfText("w"), TestDevice()));
    if (first.empty()) first = best.SerializeAsString();
    EXPECT_EQ(best.SerializeAsString(), first);
  }
}

// A record under another workload's fingerprint, as if the two collided.
TEST(StoreTest, AFingerprintIsNotEnough) {
  const std::string path = FreshPath();
  TW_ASSERT_OK(
      MustOpen(path)->Append({TestRecord("v", 10), TestRecord("w", 200)}));
  Sql(path,
      "UPDATE records SET workload = '" + KeyOfText("w").fingerprint() + "'");
  const std::unique_ptr<Store> store = MustOpen(path);
  TW_ASSERT_OK_AND_ASSIGN(const Record best,
                          store->Best(KeyOfText("w"), TestDevice()));
  EXPECT_EQ(best.measurement().latency().median_ns(), 200);
  StoreQuery query;
  query.workload = KeyOfText("w");
  EXPECT_THAT(Medians(*store, query), ElementsAre(200));
}

TEST(StoreTest, QueriesSelectInTheOrderOfAdding) {
  const std::unique_ptr<Store> store = MustOpen(FreshPath());
  Record elsewhere = TestRecord("w", 4);
  elsewhere.mutable_device()->set_structure_fingerprint(
      KeyOfText("other device").fingerprint());
  TW_ASSERT_OK(store->Append({TestRecord("w", 3), TestRecord("v", 1),
                              FailedTestRecord("w", Measurement::TIMEOUT),
                              elsewhere, TestRecord("w", 2)}));
  EXPECT_THAT(Medians(*store), ElementsAre(3, 1, 0, 4, 2));
  StoreQuery query;
  query.workload = KeyOfText("w");
  EXPECT_THAT(Medians(*store, query), ElementsAre(3, 0, 4, 2));
  query.verified_only = true;
  EXPECT_THAT(Medians(*store, query), ElementsAre(3, 4, 2));
  query.structure_fingerprint = TestDevice();
  EXPECT_THAT(Medians(*store, query), ElementsAre(3, 2));
  TW_ASSERT_OK_AND_ASSIGN(const StoreStats stats, store->Stats());
  EXPECT_EQ(stats.records, 5);
  EXPECT_EQ(stats.workloads, 3);
  EXPECT_EQ(stats.verified, 4);
  EXPECT_EQ(stats.failed, 1);
}

TEST(StoreTest, ForEachEndsWithTheCallersError) {
  const std::unique_ptr<Store> store = MustOpen(FreshPath());
  TW_ASSERT_OK(store->Append({TestRecord("w", 1), TestRecord("w", 2)}));
  int calls = 0;
  EXPECT_THAT(store->ForEach({},
                             [&](const Record&) {
                               ++calls;
                               return absl::CancelledError("enough");
                             }),
              StatusIs(StatusCode::kCancelled, "enough"));
  EXPECT_EQ(calls, 1);
}

TEST(StoreTest, ABatchIsAddedWholeOrNotAtAll) {
  const std::unique_ptr<Store> store = MustOpen(FreshPath());
  Record bad = TestRecord("w", 2);
  bad.clear_device();
  EXPECT_THAT(store->Append({TestRecord("w", 1), bad, TestRecord("w", 3)}),
              StatusIs(StatusCode::kInvalidArgument,
                       "device.structure_fingerprint is no fingerprint"));
  EXPECT_THAT(Medians(*store), IsEmpty());
  TW_EXPECT_OK(store->Append({TestRecord("w", 1), TestRecord("w", 3)}));
  TW_EXPECT_OK(store->Append(absl::Span<const Record>()));
  EXPECT_THAT(Medians(*store), ElementsAre(1, 3));
}

TEST(StoreTest, MergeAddsWhatIsNotThereYet) {
  const std::unique_ptr<Store> one = MustOpen(FreshPath("one.db"));
  const std::unique_ptr<Store> two = MustOpen(FreshPath("two.db"));
  TW_ASSERT_OK(one->Append({TestRecord("w", 1), TestRecord("w", 2)}));
  TW_ASSERT_OK(two->Append(
      {TestRecord("w", 2), TestRecord("v", 3), TestRecord("v", 3)}));
  TW_ASSERT_OK_AND_ASSIGN(const AddedRecords merged, one->Merge(*two));
  EXPECT_EQ(merged.added, 1);
  EXPECT_EQ(merged.present, 2);
  EXPECT_THAT(Medians(*one), ElementsAre(1, 2, 3));
  EXPECT_THAT(Medians(*two), ElementsAre(2, 3, 3));
  TW_ASSERT_OK_AND_ASSIGN(const AddedRecords again, one->Merge(*two));
  EXPECT_EQ(again.added, 0);
  TW_ASSERT_OK_AND_ASSIGN(const AddedRecords self, one->Merge(*one));
  EXPECT_EQ(self.added, 0);
  EXPECT_EQ(self.present, 3);
}

Record LeasedRecord(const std::string& workload, double median_ns,
                    const std::string& lease) {
  Record record = TestRecord(workload, median_ns);
  record.set_task_id(TaskIdOf(record));
  record.set_lease(lease);
  return record;
}

// Delivered twice, with other bytes: the acknowledgement was lost.
TEST(StoreTest, WhatWasMeasuredUnderALeaseIsThereOnce) {
  const std::unique_ptr<Store> store = MustOpen(FreshPath());
  TW_ASSERT_OK(store->Append(LeasedRecord("w", 1, "d-1")));
  TW_ASSERT_OK(store->Append(LeasedRecord("w", 2, "d-1")));
  TW_ASSERT_OK_AND_ASSIGN(const AddedRecords again,
                          store->Add({LeasedRecord("w", 3, "d-1")}));
  EXPECT_EQ(again.added, 0);
  EXPECT_EQ(again.present, 1);
  EXPECT_THAT(Medians(*store), ElementsAre(1));
  // Another lease is another measurement, and so is another task.
  TW_ASSERT_OK(store->Append(
      {LeasedRecord("w", 4, "d-2"), LeasedRecord("v", 5, "d-1")}));
  EXPECT_THAT(Medians(*store), ElementsAre(1, 4, 5));
  // Without leases equal records are measurements of their own.
  TW_ASSERT_OK(store->Append({TestRecord("w", 6), TestRecord("w", 6)}));
  EXPECT_THAT(Medians(*store), ElementsAre(1, 4, 5, 6, 6));
}

// The file of version 1: without the columns of version 2.
void MakeFirstVersion(const std::string& path) {
  Sql(path,
      "DROP INDEX records_by_lease; ALTER TABLE records DROP COLUMN task; "
      "ALTER TABLE records DROP COLUMN lease; PRAGMA user_version = 1");
}

TEST(StoreTest, AnOlderStoreIsBroughtUpToDate) {
  const std::string path = FreshPath();
  TW_ASSERT_OK(
      MustOpen(path)->Append({TestRecord("w", 1), TestRecord("v", 2)}));
  MakeFirstVersion(path);
  const std::unique_ptr<Store> store = MustOpen(path);
  EXPECT_THAT(Medians(*store), ElementsAre(1, 2));
  TW_ASSERT_OK(store->Append(LeasedRecord("w", 3, "d-1")));
  TW_ASSERT_OK(store->Append(LeasedRecord("w", 4, "d-1")));
  EXPECT_THAT(Medians(*store), ElementsAre(1, 2, 3));
  TW_EXPECT_OK(store->CheckIntegrity());
  // By their tasks, the old ones too.
  Sql(path, "DELETE FROM records WHERE task = '" +
                TaskIdOf(TestRecord("w", 0)) + "'");
  EXPECT_THAT(Medians(*store), ElementsAre(2));
}

TEST(StoreTest, AnOlderStoreIsReadAsItIs) {
  const std::string path = FreshPath();
  TW_ASSERT_OK(MustOpen(path)->Append(TestRecord("w", 1)));
  MakeFirstVersion(path);
  const std::string before = Bytes(path);
  StoreOptions options;
  options.read_only = true;
  TW_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Store> store,
                          Store::Open(path, options));
  EXPECT_THAT(Medians(*store), ElementsAre(1));
  TW_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Store> copy,
                          Store::Open(FreshPath("copy.db")));
  TW_ASSERT_OK_AND_ASSIGN(const AddedRecords merged, copy->Merge(*store));
  EXPECT_EQ(merged.added, 1);
  EXPECT_EQ(Bytes(path), before);
}

TEST(StoreTest, TwoStoresShareAFile) {
  const std::string path = FreshPath();
  const std::unique_ptr<Store> one = MustOpen(path);
  const std::unique_ptr<Store> two = MustOpen(path);
  TW_ASSERT_OK(one->Append(TestRecord("w", 1)));
  TW_ASSERT_OK(two->Append(TestRecord("w", 2)));
  TW_ASSERT_OK(one->Append(TestRecord("w", 3)));
  EXPECT_THAT(Medians(*two), ElementsAre(1, 2, 3));
}

TEST(StoreTest, ReadOnlyReadsAndDoesNotWrite) {
  const std::string path = FreshPath();
  StoreOptions options;
  options.read_only = true;
  EXPECT_THAT(Store::Open(path, options),
              StatusIs(StatusCode::kNotFound, "check that it exists"));
  EXPECT_NE(access(path.c_str(), F_OK), 0) << "was created";
  TW_ASSERT_OK(MustOpen(path)->Append(TestRecord("w", 1)));
  TW_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Store> store,
                          Store::Open(path, options));
  EXPECT_THAT(Medians(*store), ElementsAre(1));
  EXPECT_THAT(store->Append(TestRecord("w", 2)),
              StatusIs(StatusCode::kPermissionDenied, "not be written to"));
}

TEST(StoreTest, AMissingFolderIsNotFound) {
  EXPECT_THAT(Store::Open(FreshPath("missing/records.db")),
              StatusIs(StatusCode::kNotFound, "check that its folder exists"));
}

TEST(StoreTest, WhatIsNoStoreIsRefusedAndLeftAsItIs) {
  const std::string text = FreshPath("text.db");
  TW_ASSERT_OK(WriteFileAtomically(text, std::string(5000, 'x')));
  EXPECT_THAT(Store::Open(text),
              StatusIs(StatusCode::kInvalidArgument, "is no record store"));
  EXPECT_EQ(Bytes(text), std::string(5000, 'x'));

  const std::string other = FreshPath("other.db");
  Sql(other, "CREATE TABLE addresses (name TEXT)");
  const std::string before = Bytes(other);
  EXPECT_THAT(Store::Open(other), StatusIs(StatusCode::kInvalidArgument,
                                           "a database of something else"));
  EXPECT_EQ(Bytes(other), before);
}

TEST(StoreTest, ANewerSchemaIsRefusedAndLeftAsItIs) {
  const std::string path = FreshPath();
  TW_ASSERT_OK(MustOpen(path)->Append(TestRecord("w", 1)));
  Sql(path, "PRAGMA user_version = 3");
  const std::string before = Bytes(path);
  EXPECT_THAT(Store::Open(path),
              StatusIs(StatusCode::kFailedPrecondition,
                       "written by a newer version (schema 3, this one knows "
                       "2)"));
  EXPECT_EQ(Bytes(path), before);
}

TEST(StoreTest, ADamagedRecordIsReportedAndTheOthersAreRead) {
  const std::string path = FreshPath();
  TW_ASSERT_OK(MustOpen(path)->Append(
      {TestRecord("w", 1), TestRecord("w", 2), TestRecord("v", 3)}));
  Sql(path,
      "UPDATE records SET record = CAST(x'00ff' || record AS BLOB) WHERE id = "
      "1");
  const std::unique_ptr<Store> store = MustOpen(path);
  std::vector<double> medians;
  EXPECT_THAT(store->ForEach({},
                             [&](const Record& record) {
                               medians.push_back(
                                   record.measurement().latency().median_ns());
                               return absl::OkStatus();
                             }),
              StatusIs(StatusCode::kDataLoss, "1 records are damaged"));
  EXPECT_THAT(medians, ElementsAre(2, 3));
  EXPECT_THAT(store->Best(KeyOfText("w"), TestDevice()),
              StatusIs(StatusCode::kDataLoss, "record 1 is damaged"));
  TW_EXPECT_OK(store->Best(KeyOfText("v"), TestDevice()));
  EXPECT_THAT(store->CheckIntegrity(), StatusIs(StatusCode::kDataLoss));
  // Nothing of a damaged store is merged silently.
  const std::unique_ptr<Store> copy = MustOpen(FreshPath("copy.db"));
  EXPECT_THAT(copy->Merge(*store), StatusIs(StatusCode::kDataLoss));
  EXPECT_THAT(Medians(*copy), IsEmpty());
}

// Every page in turn is overwritten: each call gives a status or right records,
// and the file is not written to by reading.
TEST(StoreTest, DamagedPagesNeverGiveWrongRecords) {
  const std::string path = FreshPath();
  std::vector<Record> records;
  for (int i = 0; i < 60; ++i) {
    records.push_back(TestRecord(i % 2 ? "v" : "w", 1000 + i));
  }
  TW_ASSERT_OK(MustOpen(path)->Append(records));
  const std::string good = Bytes(path);
  constexpr size_t kPage = 4096;
  ASSERT_GT(good.size(), 5 * kPage);
  int reported = 0;
  for (size_t page = 0; page < good.size() / kPage; ++page) {
    std::string bad = good;
    for (size_t i = 0; i < kPage; ++i) bad[page * kPage + i] ^= 0x5a;
    const std::string damaged = FreshPath("damaged.db");
    TW_ASSERT_OK(WriteFileAtomically(damaged, bad));
    absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(damaged);
    if (!store.ok()) {
      ++reported;
      EXPECT_EQ(Bytes(damaged), bad);
      continue;
    }
    size_t next = 0;
    const absl::Status status =
        (*store)->ForEach({}, [&](const Record& record) {
          const std::string bytes = record.SerializeAsString();
          while (next < records.size() &&
                 records[next].SerializeAsString() != bytes) {
            ++next;
          }
          EXPECT_LT(next, records.size()) << "no record of ours";
          return absl::OkStatus();
        });
    const absl::Status whole = (*store)->CheckIntegrity();
    EXPECT_FALSE(whole.ok()) << "page " << page;
    reported += !status.ok();
  }
  EXPECT_GT(reported, 3);
}

}  // namespace
}  // namespace tilewright::measure
