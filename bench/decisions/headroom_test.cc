#include "bench/decisions/headroom.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "bench/decisions/drawn_tables.h"
#include "bench/decisions/headroom_table.h"
#include "bench/decisions/kernel_of.h"
#include "bench/decisions/splits_generator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/parallel/measurer.h"
#include "sketch/trace/workload.h"

namespace tilewright::bench {
namespace {

using measure::Measurement;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// The time of a kernel of so many parts, and whether its values are right. The
// first time that one is measured it seems to take `luck` times as long.
struct Machine {
  std::map<std::string, double> ns = {
      {"1", 100}, {"2", 80}, {"4", 50}, {"8", 90}};
  std::map<std::string, double> luck;
  std::string wrong;
  int processes = 0;
};

class FakeMeasurer : public measure::Measurer {
 public:
  explicit FakeMeasurer(Machine& machine) : machine_(machine) {}

 protected:
  absl::StatusOr<std::vector<Measurement>> DoMeasure(
      const measure::MeasureBatch& batch) override {
    std::vector<Measurement> found;
    for (const sketch::ScheduleProto& schedule : batch.schedules) {
      const std::string parts = schedule.decisions(0).value();
      Measurement& one = found.emplace_back();
      one.set_outcome(parts == machine_.wrong ? Measurement::WRONG_ANSWER
                                              : Measurement::OK);
      const auto lucky = machine_.luck.find(parts);
      double ns = machine_.ns.at(parts);
      if (lucky != machine_.luck.end()) {
        ns *= lucky->second;
        machine_.luck.erase(lucky);
      }
      // All is slower in later processes.
      one.mutable_latency()->set_low_ns(ns * machine_.processes);
    }
    return found;
  }

 private:
  Machine& machine_;
};

class HeadroomTest : public testing::Test {
 protected:
  void SetUp() override {
    TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("cpu_x86_64_v4"));
    TW_ASSERT_OK_AND_ASSIGN(codegen_, cpu::CreateCpuCodegen(spec));
  }

  Searched searched() const { return {workload_, generator_, *codegen_}; }

  absl::StatusOr<Headroom> Find(Machine& machine) {
    HeadroomOptions options;
    options.draws = 60;
    options.turns = 3;
    return FindHeadroom(searched(), options,
                        [&](const measure::AdaptiveEvaluatorOptions&) {
                          ++machine.processes;
                          return std::make_unique<FakeMeasurer>(machine);
                        });
  }

  Fingerprint RuleKernel() const {
    const auto rule =
        sketch::GeneratePreferred(generator_, workload_, codegen_->spec());
    return *KernelOf(workload_, *rule, *codegen_);
  }

  const sketch::Workload workload_ = SplitsWorkload();
  // Kernels of 1 part, the rule's, 2, 4 and 8.
  const sketch::Generator generator_ = SplitsGenerator(8);
  std::unique_ptr<backends::Codegen> codegen_;
};

TEST_F(HeadroomTest, TablesAreDrawnAlikeAndGiveEveryKernelOnce) {
  for (const TableSource source :
       {TableSource::kRandom, TableSource::kMutated}) {
    const DrawnTables drawn =
        DrawTables(searched(), RuleKernel(), source, 60, 5);
    EXPECT_GT(drawn.refused, 0);
    EXPECT_THAT(drawn.different, SizeIs(3));  // 2, 4 and 8 parts
    EXPECT_EQ(drawn.refused + drawn.equal + 3, 60);
    std::set<Fingerprint> kernels = {RuleKernel()};
    std::string text;
    for (const sketch::Schedule& one : drawn.different) {
      TW_ASSERT_OK_AND_ASSIGN(const Fingerprint kernel,
                              KernelOf(workload_, one, *codegen_));
      EXPECT_TRUE(kernels.insert(kernel).second) << one.ToString();
      text += one.ToString();
    }
    std::string again;
    for (const sketch::Schedule& one :
         DrawTables(searched(), RuleKernel(), source, 60, 5).different)
      again += one.ToString();
    EXPECT_EQ(text, again);
  }
}

TEST_F(HeadroomTest, TheFastestKernelIsFoundAndWhatMakesItFast) {
  Machine machine;
  TW_ASSERT_OK_AND_ASSIGN(const Headroom headroom, Find(machine));
  for (const SourceHeadroom& source : {headroom.random, headroom.mutated}) {
    ASSERT_TRUE(source.speedup.has_value());
    EXPECT_DOUBLE_EQ(source.speedup->median, 2);
    EXPECT_DOUBLE_EQ(source.speedup->least, 2);
    EXPECT_EQ(source.wrong + source.failed, 0);
  }
  EXPECT_DOUBLE_EQ(headroom.again.median, 1);
  // The mean of the third to fifth process.
  EXPECT_DOUBLE_EQ(headroom.rule_us, 0.1 * 4);
  ASSERT_TRUE(headroom.pruned.has_value());
  EXPECT_EQ(DifferenceOf(headroom.rule, *headroom.pruned), "parts: 1 -> 4");
}

TEST_F(HeadroomTest, WrongKernelsAreCountedAndNeverTheBest) {
  Machine machine;
  machine.wrong = "4";
  TW_ASSERT_OK_AND_ASSIGN(const Headroom headroom, Find(machine));
  for (const SourceHeadroom& source : {headroom.random, headroom.mutated}) {
    EXPECT_EQ(source.wrong, 1);
    EXPECT_EQ(source.failed, 0);
    EXPECT_THAT(source.faults, SizeIs(1));
    ASSERT_TRUE(source.speedup.has_value());
    EXPECT_DOUBLE_EQ(source.speedup->median, 100.0 / 80);
  }
  machine.wrong = "1";
  EXPECT_THAT(Find(machine).status(), StatusIs(absl::StatusCode::kInternal,
                                               HasSubstr("the rule's kernel")));
}

TEST_F(HeadroomTest, LuckInScreeningIsNotReported) {
  Machine machine;
  machine.ns = {{"1", 100}, {"2", 110}, {"4", 105}, {"8", 130}};
  machine.luck = {{"2", 0.1}};
  TW_ASSERT_OK_AND_ASSIGN(const Headroom headroom, Find(machine));
  EXPECT_DOUBLE_EQ(headroom.random.speedup->median, 100.0 / 105);
  EXPECT_DOUBLE_EQ(headroom.mutated.speedup->median, 100.0 / 105);
}

TEST_F(HeadroomTest, ARowHasFiguresAndWhatIsDecidedOtherwise) {
  Machine machine;
  TW_ASSERT_OK_AND_ASSIGN(const Headroom headroom, Find(machine));
  const std::string row = HeadroomRow("map", headroom);
  EXPECT_THAT(row, HasSubstr("| map | 0.4 | 1.000 (1.000 to 1.000) | 2.000 "
                             "(2.000 to 2.000) |"));
  EXPECT_THAT(row, HasSubstr("| parts: 1 -> 4 |\n"));
  const auto columns = [](const std::string& line) {
    return std::count(line.begin(), line.end(), '|');
  };
  const std::string head = HeadroomHead();
  EXPECT_EQ(columns(row), columns(head.substr(0, head.find('\n'))));
}

TEST(SpeedupTest, IsTheMedianOfProcessesWithItsRange) {
  const Speedup speedup = SpeedupOf({1.2, 0.9, 1.1});
  EXPECT_DOUBLE_EQ(speedup.median, 1.1);
  EXPECT_DOUBLE_EQ(speedup.least, 0.9);
  EXPECT_DOUBLE_EQ(speedup.most, 1.2);
}

}  // namespace
}  // namespace tilewright::bench
