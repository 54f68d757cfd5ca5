#include "measure/record/store_json.h"

#include <unistd.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/record/test_records.h"

namespace tilewright::measure {
namespace {

using ::absl::StatusCode;
using ::testing::HasSubstr;
using ::testing::Not;

std::unique_ptr<Store> FreshStore(const std::string& name) {
  const std::string path =
      testing::TempDir() + "/" + name + "_" + std::to_string(getpid()) + ".db";
  for (const char* suffix : {"", "-wal", "-shm"}) {
    unlink((path + suffix).c_str());
  }
  absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(path);
  TW_EXPECT_OK(store);
  return *std::move(store);
}

TEST(StoreJsonTest, ALineHoldsEveryBitOfARecord) {
  Record record = TestRecord("two\nlines \"quoted\"", 1.0 / 3);
  record.mutable_measurement()->mutable_latency()->set_mean_ns(1e300);
  for (const Record& r :
       {record, FailedTestRecord("w", Measurement::OUT_OF_MEMORY)}) {
    TW_ASSERT_OK_AND_ASSIGN(const std::string line, ToJsonLine(r));
    EXPECT_THAT(line, Not(HasSubstr("\n")));
    TW_ASSERT_OK_AND_ASSIGN(const Record back, FromJsonLine(line));
    EXPECT_EQ(back.SerializeAsString(), r.SerializeAsString());
  }
}

TEST(StoreJsonTest, FieldsHaveTheNamesOfTheProto) {
  TW_ASSERT_OK_AND_ASSIGN(const std::string line,
                          ToJsonLine(TestRecord("w", 1000)));
  EXPECT_THAT(line, HasSubstr("\"outcome\":\"OK\""));
  EXPECT_THAT(line, HasSubstr("\"median_ns\":1000"));
  EXPECT_THAT(line, HasSubstr("\"degree_of_parallelism\":2"));
  EXPECT_THAT(line, HasSubstr("\"seed\":\"18446744073709551615\""));
}

TEST(StoreJsonTest, UnknownFieldsAreNotDroppedSilently) {
  EXPECT_THAT(FromJsonLine("{\"colour\":\"red\"}"),
              StatusIs(StatusCode::kInvalidArgument, "not a record as JSON"));
  // Field 1000 with the value 1, as a newer version might have it.
  Record newer;
  ASSERT_TRUE(newer.ParseFromString(TestRecord("w", 1).SerializeAsString() +
                                    "\xc0\x3e\x01"));
  EXPECT_THAT(ToJsonLine(newer),
              StatusIs(StatusCode::kFailedPrecondition, "does not know"));
}

TEST(StoreJsonTest, ExportAndImportGiveTheSameRecords) {
  const std::unique_ptr<Store> from = FreshStore("from");
  const std::unique_ptr<Store> to = FreshStore("to");
  TW_ASSERT_OK(from->Append({TestRecord("w", 1), TestRecord("v", 2),
                             FailedTestRecord("w", Measurement::TIMEOUT)}));
  TW_ASSERT_OK(to->Append(TestRecord("v", 2)));
  std::ostringstream lines;
  TW_ASSERT_OK(ExportJsonLines(*from, {}, lines));
  std::istringstream in(lines.str() + "\n");
  TW_ASSERT_OK_AND_ASSIGN(const AddedRecords added, ImportJsonLines(in, *to));
  EXPECT_EQ(added.added, 2);
  EXPECT_EQ(added.present, 1);
  std::ostringstream back;
  TW_ASSERT_OK(ExportJsonLines(*to, {}, back));
  TW_ASSERT_OK_AND_ASSIGN(const std::string first,
                          ToJsonLine(TestRecord("v", 2)));
  TW_ASSERT_OK_AND_ASSIGN(const std::string second,
                          ToJsonLine(TestRecord("w", 1)));
  EXPECT_EQ(back.str().substr(0, first.size() + second.size() + 2),
            first + "\n" + second + "\n");
}

TEST(StoreJsonTest, ExportSelects) {
  const std::unique_ptr<Store> store = FreshStore("select");
  TW_ASSERT_OK(store->Append({TestRecord("w", 1), TestRecord("v", 2)}));
  StoreQuery query;
  query.workload = KeyOfText("v");
  std::ostringstream lines;
  TW_ASSERT_OK(ExportJsonLines(*store, query, lines));
  TW_ASSERT_OK_AND_ASSIGN(const std::string expected,
                          ToJsonLine(TestRecord("v", 2)));
  EXPECT_EQ(lines.str(), expected + "\n");
}

TEST(StoreJsonTest, AStreamThatFailsIsAnError) {
  const std::unique_ptr<Store> store = FreshStore("fails");
  TW_ASSERT_OK(store->Append(TestRecord("w", 1)));
  std::ostringstream lines;
  lines.setstate(std::ios::badbit);
  EXPECT_THAT(ExportJsonLines(*store, {}, lines),
              StatusIs(StatusCode::kUnavailable));
}

TEST(StoreJsonTest, ABadLineImportsNothing) {
  const std::unique_ptr<Store> store = FreshStore("bad");
  TW_ASSERT_OK_AND_ASSIGN(const std::string good,
                          ToJsonLine(TestRecord("w", 1)));
  Record invalid = TestRecord("w", 1);
  invalid.mutable_workload()->set_text("edited");
  TW_ASSERT_OK_AND_ASSIGN(const std::string edited, ToJsonLine(invalid));
  for (const std::string& bad :
       {std::string("{"), edited, good.substr(0, good.size() / 2)}) {
    std::istringstream in(good + "\n\n" + bad + "\n");
    EXPECT_THAT(ImportJsonLines(in, *store),
                StatusIs(StatusCode::kInvalidArgument, "line 3: "));
  }
  TW_ASSERT_OK_AND_ASSIGN(const StoreStats stats, store->Stats());
  EXPECT_EQ(stats.records, 0);
}

}  // namespace
}  // namespace tilewright::measure
