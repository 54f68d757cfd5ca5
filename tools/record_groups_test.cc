#include "tools/record_groups.h"

#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "measure/record/test_records.h"

namespace tilewright::tools {
namespace {

using measure::FailedTestRecord;
using measure::KeyOfText;
using measure::Measurement;
using measure::Record;
using measure::Store;
using measure::TestRecord;

std::unique_ptr<Store> FreshStore(const std::string& name) {
  const std::string path =
      testing::TempDir() + "/" + name + "_" + std::to_string(getpid()) + ".db";
  for (const char* suffix : {"", "-wal", "-shm"}) {
    unlink((path + suffix).c_str());
  }
  auto store = Store::Open(path);
  TW_EXPECT_OK(store);
  return *std::move(store);
}

TEST(RecordGroupsTest, CountsByWorkloadAndDeviceAndFindsTheBest) {
  const auto store = FreshStore("groups");
  Record elsewhere = TestRecord("a", 50);
  elsewhere.mutable_device()->set_structure_fingerprint(
      KeyOfText("other").fingerprint());
  TW_ASSERT_OK(store->Append(std::vector<Record>{
      TestRecord("b", 7), TestRecord("a", 300), TestRecord("a", 100),
      FailedTestRecord("a", Measurement::TIMEOUT), elsewhere,
      FailedTestRecord("c", Measurement::RUN_ERROR)}));
  std::vector<RecordGroup> groups;
  TW_ASSERT_OK(CollectRecordGroups(*store, "", groups));
  ASSERT_EQ(groups.size(), 4u);
  EXPECT_EQ(groups[0].workload.text(), "b");
  EXPECT_EQ(groups[1].workload.text(), "a");
  EXPECT_EQ(groups[1].records, 3);
  EXPECT_EQ(groups[1].verified, 2);
  EXPECT_EQ(groups[1].failed, 1);
  ASSERT_TRUE(groups[1].best.has_value());
  EXPECT_EQ(groups[1].best->measurement().latency().median_ns(), 100);
  EXPECT_EQ(groups[2].records, 1);
  ASSERT_TRUE(groups[2].best.has_value());
  EXPECT_EQ(groups[2].best->measurement().latency().median_ns(), 50);
  EXPECT_EQ(groups[3].failed, 1);
  EXPECT_FALSE(groups[3].best.has_value());
}

TEST(RecordGroupsTest, TakesWorkloadsByTheBeginningOfTheirFingerprint) {
  const auto store = FreshStore("prefix");
  TW_ASSERT_OK(store->Append(
      std::vector<Record>{TestRecord("a", 1), TestRecord("b", 2)}));
  std::vector<RecordGroup> groups;
  TW_ASSERT_OK(CollectRecordGroups(
      *store, KeyOfText("b").fingerprint().substr(0, 8), groups));
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].workload.text(), "b");
  groups.clear();
  TW_ASSERT_OK(CollectRecordGroups(*store, "zz", groups));
  EXPECT_TRUE(groups.empty());
}

TEST(RecordGroupsTest, DurationsHaveThreeDigitsAndAUnit) {
  EXPECT_EQ(DurationText(12), "12 ns");
  EXPECT_EQ(DurationText(12345), "12.3 us");
  EXPECT_EQ(DurationText(1.5e6), "1.5 ms");
  EXPECT_EQ(DurationText(2.5e9), "2.5 s");
}

TEST(RecordGroupsTest, ATextThatIsNoWorkloadHasNoDescription) {
  EXPECT_EQ(DescribeWorkload("gibberish"), "");
}

}  // namespace
}  // namespace tilewright::tools
