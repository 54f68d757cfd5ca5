#include "measure/parallel/interleaved_rounds.h"

#include <functional>
#include <string>
#include <utility>

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// Executes candidates named by their generator, one after the other; `find`
// says what is found of the one that is executed as the so-manieth.
class OneByOne : public Measurer {
 public:
  using Find = std::function<Measurement(const std::string& name, int number)>;
  explicit OneByOne(Find find) : find_(std::move(find)) {}

  std::string executed;

 protected:
  absl::StatusOr<std::vector<Measurement>> DoMeasure(
      const MeasureBatch& batch) override {
    if (!batch.alone) return absl::UnimplementedError("side by side");
    std::vector<Measurement> found;
    for (const sketch::ScheduleProto& schedule : batch.schedules) {
      found.push_back(
          find_(schedule.generator(), static_cast<int>(executed.size())));
      executed += schedule.generator();
    }
    return found;
  }

 private:
  const Find find_;
};

Measurement Took(double ns) {
  Measurement measurement;
  measurement.set_outcome(Measurement::OK);
  measurement.mutable_latency()->set_n(10);
  measurement.mutable_latency()->set_median_ns(2 * ns);
  measurement.mutable_latency()->set_low_ns(ns);
  return measurement;
}

std::vector<sketch::ScheduleProto> Schedules(const std::string& names) {
  std::vector<sketch::ScheduleProto> schedules(names.size());
  for (size_t i = 0; i < names.size(); ++i)
    schedules[i].set_generator(names.substr(i, 1));
  return schedules;
}

TEST(MeasureInterleavedTest, EveryOtherRoundIsReversed) {
  OneByOne measurer([](const std::string& name, int number) {
    return Took((name == "a" ? 100 : 200) + number);
  });
  TW_ASSERT_OK_AND_ASSIGN(
      const std::vector<Measurement> found,
      MeasureInterleaved({}, Schedules("ab"), measurer, {3}));
  EXPECT_EQ(measurer.executed, "abbaab");
  EXPECT_THAT(found[0].rounds_ns(), ElementsAre(100, 103, 104));
  EXPECT_THAT(found[1].rounds_ns(), ElementsAre(201, 202, 205));
  EXPECT_EQ(found[0].latency().n(), 3);
  EXPECT_EQ(found[0].latency().median_ns(), 103);
  EXPECT_EQ(found[0].latency().min_ns(), 100);
  EXPECT_THAT(found[0].method().turns(), Not(IsEmpty()));
  EXPECT_EQ(found[0].method().turns(), found[1].method().turns());
}

TEST(MeasureInterleavedTest, WhatFailsIsLeftOut) {
  OneByOne measurer([](const std::string& name, int number) {
    Measurement measurement = Took(1);
    if (name == "b" && number > 1) {
      measurement.clear_latency();
      measurement.set_outcome(Measurement::RUN_ERROR);
      measurement.set_message("it crashed");
    }
    return measurement;
  });
  TW_ASSERT_OK_AND_ASSIGN(
      const std::vector<Measurement> found,
      MeasureInterleaved({}, Schedules("abc"), measurer, {3}));
  EXPECT_EQ(measurer.executed, "abccbaac");
  EXPECT_EQ(found[1].outcome(), Measurement::RUN_ERROR);
  EXPECT_EQ(found[1].message(), "it crashed");
  EXPECT_THAT(found[1].rounds_ns(), IsEmpty());
  EXPECT_THAT(found[1].method().turns(), IsEmpty());
  EXPECT_THAT(found[2].rounds_ns(), ElementsAre(1, 1, 1));
}

}  // namespace
}  // namespace tilewright::measure
