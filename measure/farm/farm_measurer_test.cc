#include "measure/farm/farm_measurer.h"

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/cancellation.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/record/test_records.h"

namespace tilewright::measure {
namespace {

using ::absl::StatusCode;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

sketch::ScheduleProto Schedule(int i) {
  sketch::ScheduleProto schedule;
  schedule.add_decisions()->set_value(absl::StrCat(i));
  return schedule;
}

std::vector<sketch::ScheduleProto> Schedules(int count) {
  std::vector<sketch::ScheduleProto> schedules;
  for (int i = 0; i < count; ++i) schedules.push_back(Schedule(i));
  return schedules;
}

Measurement Failure(Measurement::Fault fault) {
  Measurement measurement;
  measurement.set_outcome(Measurement::RUN_ERROR);
  measurement.set_fault(fault);
  measurement.set_message("it fell off the bus");
  return measurement;
}

// What a device does with a candidate; by default its latency is its number.
using Behaviour = std::function<absl::StatusOr<Measurement>(int candidate)>;

absl::StatusOr<Measurement> Good(int candidate) {
  Measurement measurement;
  measurement.set_outcome(Measurement::OK);
  measurement.mutable_latency()->set_median_ns(candidate);
  return measurement;
}

class ScriptedMeasurer : public Measurer {
 public:
  explicit ScriptedMeasurer(Behaviour behaviour)
      : behaviour_(std::move(behaviour)), thread_(std::this_thread::get_id()) {}
  ~ScriptedMeasurer() override {
    EXPECT_EQ(std::this_thread::get_id(), thread_);
  }

 protected:
  absl::StatusOr<std::vector<Measurement>> DoMeasure(
      const MeasureBatch& batch) override {
    const absl::Span<const sketch::ScheduleProto> schedules = batch.schedules;
    const MeasureOptions& options = batch.options;
    EXPECT_EQ(std::this_thread::get_id(), thread_);
    std::vector<Measurement> results;
    for (size_t i = 0; i < schedules.size(); ++i) {
      int candidate = 0;
      EXPECT_TRUE(
          absl::SimpleAtoi(schedules[i].decisions(0).value(), &candidate));
      const int index = static_cast<int>(i);
      absl::StatusOr<Measurement> result = behaviour_(candidate);
      if (!result.ok()) return result.status();
      const bool cancelled =
          options.cancellation != nullptr && options.cancellation->cancelled();
      if (cancelled || (options.wanted && !options.wanted(index, {7}))) {
        result->Clear();
        result->set_outcome(Measurement::NOT_MEASURED);
      }
      results.push_back(*result);
      options.on_result(index, results.back());
    }
    return results;
  }

 private:
  const Behaviour behaviour_;
  const std::thread::id thread_;
};

FarmDevice Device(const std::string& name, Behaviour behaviour = Good) {
  FarmDevice device;
  device.name = name;
  device.round = 2;
  device.start = [behaviour]() -> absl::StatusOr<std::unique_ptr<Measurer>> {
    return std::make_unique<ScriptedMeasurer>(behaviour);
  };
  return device;
}

std::unique_ptr<FarmMeasurer> MustStart(std::vector<FarmDevice> devices) {
  absl::StatusOr<std::unique_ptr<FarmMeasurer>> farm =
      FarmMeasurer::Start(std::move(devices));
  TW_EXPECT_OK(farm);
  return *std::move(farm);
}

void ExpectRight(const std::vector<Measurement>& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].outcome(), Measurement::OK) << i;
    EXPECT_EQ(results[i].latency().median_ns(), i);
  }
}

// Two devices that measure at the same time: each waits for the other.
TEST(FarmMeasurerTest, DevicesShareABatch) {
  std::atomic<bool> a{false}, b{false};
  const auto together = [](std::atomic<bool>& mine, std::atomic<bool>& other) {
    return [&](int candidate) {
      mine = true;
      while (!other) std::this_thread::yield();
      return Good(candidate);
    };
  };
  const std::unique_ptr<FarmMeasurer> farm =
      MustStart({Device("a", together(a, b)), Device("b", together(b, a))});
  std::vector<int> told(20);
  const std::thread::id caller = std::this_thread::get_id();
  MeasureOptions options;
  options.on_result = [&](int index, const Measurement& measurement) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(measurement.latency().median_ns(), index);
    ++told[static_cast<size_t>(index)];
  };
  TW_ASSERT_OK_AND_ASSIGN(
      const std::vector<Measurement> results,
      farm->Measure(KeyOfText("w"), Schedules(20), options));
  ASSERT_THAT(results, SizeIs(20));
  ExpectRight(results);
  EXPECT_THAT(told, Each(1));
  int64_t measured = 0;
  for (const FarmMeasurer::DeviceState& device : farm->devices()) {
    TW_EXPECT_OK(device.status);
    EXPECT_GE(device.measured, 2) << device.name;
    measured += device.measured;
  }
  EXPECT_EQ(measured, 20);
  // And the next batch.
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> more,
                          farm->Measure(KeyOfText("w"), Schedules(3)));
  ExpectRight(more);
}

TEST(FarmMeasurerTest, WorkOfADeviceThatFailsGoesToTheOthers) {
  for (const bool error : {false, true}) {
    std::atomic<bool> failed{false};
    const std::unique_ptr<FarmMeasurer> farm =
        MustStart({Device("good",
                          [&](int candidate) {
                            while (!failed) std::this_thread::yield();
                            return Good(candidate);
                          }),
                   Device("bad", [&](int) -> absl::StatusOr<Measurement> {
                     failed = true;
                     if (error)
                       return absl::UnavailableError("it fell off the bus");
                     return Failure(Measurement::DEVICE);
                   })});
    for (int batch = 0; batch < 2; ++batch) {
      TW_ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> results,
                              farm->Measure(KeyOfText("w"), Schedules(12)));
      ExpectRight(results);
    }
    const std::vector<FarmMeasurer::DeviceState> devices = farm->devices();
    EXPECT_EQ(devices[0].measured, 24);
    EXPECT_THAT(devices[1].status,
                StatusIs(StatusCode::kUnavailable, "fell off the bus"));
  }
}

TEST(FarmMeasurerTest, ACandidateThatTwoDevicesWereLostWithIsNotTriedAgain) {
  std::atomic<int> tried{0};
  const Behaviour poisoned = [&](int candidate) -> absl::StatusOr<Measurement> {
    if (candidate != 3) return Good(candidate);
    ++tried;
    return Failure(Measurement::DEVICE);
  };
  const std::unique_ptr<FarmMeasurer> farm =
      MustStart({Device("a", poisoned), Device("b", poisoned),
                 Device("c", poisoned), Device("d", poisoned)});
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> results,
                          farm->Measure(KeyOfText("w"), Schedules(12)));
  EXPECT_EQ(results[3].fault(), Measurement::DEVICE);
  EXPECT_EQ(tried, 2);
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].outcome() == Measurement::OK, i != 3) << i;
  }
}

TEST(FarmMeasurerTest, TheLastDevicesFailureIsTheCallers) {
  const std::unique_ptr<FarmMeasurer> farm =
      MustStart({Device("a", [](int candidate) -> absl::StatusOr<Measurement> {
        if (candidate == 2) return absl::UnavailableError("it is gone");
        return Good(candidate);
      })});
  std::vector<int> told;
  MeasureOptions options;
  options.on_result = [&](int index, const Measurement&) {
    told.push_back(index);
  };
  EXPECT_THAT(farm->Measure(KeyOfText("w"), Schedules(4), options),
              StatusIs(StatusCode::kUnavailable, "it is gone"));
  EXPECT_THAT(told, ElementsAre(0, 1));
  EXPECT_THAT(farm->Measure(KeyOfText("w"), Schedules(1)),
              StatusIs(StatusCode::kUnavailable, "no device"));
}

TEST(FarmMeasurerTest, ADeviceThatDoesNotStartIsLeftOut) {
  FarmDevice dead;
  dead.name = "dead";
  dead.start = []() -> absl::StatusOr<std::unique_ptr<Measurer>> {
    return absl::UnavailableError("no driver");
  };
  EXPECT_THAT(FarmMeasurer::Start({dead}),
              StatusIs(StatusCode::kUnavailable, "dead: no driver"));
  const std::unique_ptr<FarmMeasurer> farm = MustStart({dead, Device("a")});
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> results,
                          farm->Measure(KeyOfText("w"), Schedules(5)));
  ExpectRight(results);
  EXPECT_FALSE(farm->devices()[0].status.ok());
}

TEST(FarmMeasurerTest, WhatIsWantedIsAskedOnTheCallersThread) {
  const std::unique_ptr<FarmMeasurer> farm =
      MustStart({Device("a"), Device("b")});
  const std::thread::id caller = std::this_thread::get_id();
  MeasureOptions options;
  options.wanted = [&](int index, const BuildReport& report) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(report.spills, 7);
    return index % 2 == 0;
  };
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> results,
                          farm->Measure(KeyOfText("w"), Schedules(9), options));
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].outcome() == Measurement::OK, i % 2 == 0) << i;
  }
}

TEST(FarmMeasurerTest, ComparisonsHaveOneDevice) {
  const std::unique_ptr<FarmMeasurer> farm =
      MustStart({Device("a"), Device("b")});
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> results,
                          farm->MeasureAlone(KeyOfText("w"), Schedules(9)));
  ExpectRight(results);
  EXPECT_EQ(farm->devices()[0].measured, 9);
  EXPECT_EQ(farm->devices()[1].measured, 0);
}

TEST(FarmMeasurerTest, CancellingEndsEveryDevice) {
  Cancellation cancellation;
  const Behaviour cancels = [&](int candidate) {
    if (candidate == 4) cancellation.Cancel();
    // However long the other device takes to get there.
    while (candidate > 10 && !cancellation.cancelled())
      std::this_thread::yield();
    return Good(candidate);
  };
  const std::unique_ptr<FarmMeasurer> farm =
      MustStart({Device("a", cancels), Device("b", cancels)});
  MeasureOptions options;
  options.cancellation = &cancellation;
  TW_ASSERT_OK_AND_ASSIGN(
      const std::vector<Measurement> results,
      farm->Measure(KeyOfText("w"), Schedules(50), options));
  ASSERT_THAT(results, SizeIs(50));
  EXPECT_EQ(results.back().outcome(), Measurement::NOT_MEASURED);
}

TEST(FarmMeasurerTest, DevicesMayBeBorrowed) {
  const std::unique_ptr<FarmMeasurer> one = MustStart({Device("a")});
  FarmDevice borrowed;
  borrowed.name = "b";
  borrowed.start = [&] { return Borrow(*one); };
  {
    const std::unique_ptr<FarmMeasurer> farm = MustStart({borrowed});
    TW_ASSERT_OK_AND_ASSIGN(const std::vector<Measurement> results,
                            farm->Measure(KeyOfText("w"), Schedules(9)));
    ExpectRight(results);
    TW_ASSERT_OK(farm->MeasureAlone(KeyOfText("w"), Schedules(2)));
  }
  EXPECT_EQ(one->devices()[0].measured, 11);
}

}  // namespace
}  // namespace tilewright::measure
