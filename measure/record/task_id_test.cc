#include "measure/record/task_id.h"

#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "measure/record/test_records.h"

namespace tilewright::measure {
namespace {

TEST(TaskIdTest, WhenAndHowWellItWasMeasuredIsNoPartOfIt) {
  const Record record = TestRecord("w", 100);
  Record later = TestRecord("w", 300);
  later.set_unix_ns(1);
  later.set_seed(2);
  later.set_lease("d-1");
  later.mutable_schedule()->set_generator("rules");
  later.mutable_versions()->set_driver("linux 6.2");
  EXPECT_EQ(TaskIdOf(later), TaskIdOf(record));
  EXPECT_EQ(TaskIdOf(FailedTestRecord("w", Measurement::TIMEOUT)),
            TaskIdOf(record));
}

// Stores and journals hold it: it must never change.
TEST(TaskIdTest, IsTheSameInEveryVersion) {
  EXPECT_EQ(TaskId(KeyOfText("w"), {}, "c"),
            "459764875adbf9e3e85cbb45ee75c7f5");
  EXPECT_EQ(TaskIdOf(TestRecord("w", 1)), "1ef76ee9e4bf7071c74753aeb81ecf0c");
}

TEST(TaskIdTest, EveryOtherDifferenceMakesAnotherTask) {
  const Record record = TestRecord("w", 100);
  std::vector<Record> others(10, record);
  *others[0].mutable_workload() = KeyOfText("v");
  others[1].mutable_device()->set_structure_fingerprint(
      KeyOfText("other device").fingerprint());
  others[2].mutable_versions()->set_code_generation(4);
  others[3].mutable_schedule()->mutable_decisions(0)->set_value("8x16");
  others[4].mutable_schedule()->mutable_decisions(0)->set_name("tile_n");
  others[5].mutable_schedule()->clear_decisions();
  others[6].mutable_schedule()->mutable_instructions(0)->set_operands(0, 2);
  others[7].mutable_schedule()->mutable_instructions(0)->set_text("j");
  others[8].mutable_schedule()->mutable_instructions(0)->add_results(1);
  others[9]
      .mutable_schedule()
      ->mutable_instructions(0)
      ->add_factors()
      ->add_factor(4);
  std::set<std::string> ids = {TaskIdOf(record)};
  for (const Record& other : others) ids.insert(TaskIdOf(other));
  EXPECT_EQ(ids.size(), others.size() + 1);
}

// A value that moves from one field to its neighbour.
TEST(TaskIdTest, FieldsKeepTheirBorders) {
  sketch::ScheduleProto one, two;
  one.add_decisions()->set_name("ab");
  two.add_decisions()->set_name("a");
  two.mutable_decisions(0)->set_value("b");
  EXPECT_NE(TaskId(KeyOfText("w"), one, "c"), TaskId(KeyOfText("w"), two, "c"));
  EXPECT_NE(TaskId(KeyOfText("wc"), one, ""), TaskId(KeyOfText("w"), one, "c"));
}

}  // namespace
}  // namespace tilewright::measure
