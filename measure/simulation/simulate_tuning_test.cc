// Tests what parallel measuring must show on the fake device, on a few
// programs; simulate_main.cc has the whole table.

#include "measure/simulation/simulate_tuning.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

TuningResult Tune(const fake::Setting& setting,
                  const fake::FakeProgram& program, const std::string& name,
                  uint64_t seed) {
  TuningOptions options;
  options.seed = seed;
  bool known = false;
  for (const Contender& contender : Contenders(/*overlap_builds=*/false)) {
    if (contender.name != name) continue;
    options.measurer = contender.options;
    known = true;
  }
  EXPECT_TRUE(known) << name;
  absl::StatusOr<TuningResult> result =
      SimulateTuning(setting, program, options);
  TW_EXPECT_OK(result);
  return result.ok() ? *std::move(result) : TuningResult();
}

struct Comparison {
  double least_saved = 1, most_saved = -1;
  double worst_choice = 0;  // chosen latency over serial's, minus 1
};

Comparison Compare(const fake::Setting& setting, const std::string& name) {
  Comparison comparison;
  for (uint64_t p = 0; p < 4; ++p) {
    const fake::FakeProgram program = fake::DrawProgram(setting, 500, p, p);
    const TuningResult serial = Tune(setting, program, "serial", p);
    const TuningResult result = Tune(setting, program, name, p);
    const double saved = 1 - result.time_s / serial.time_s;
    comparison.least_saved = std::min(comparison.least_saved, saved);
    comparison.most_saved = std::max(comparison.most_saved, saved);
    comparison.worst_choice = std::max(comparison.worst_choice,
                                       result.chosen_ns / serial.chosen_ns - 1);
  }
  return comparison;
}

TEST(SimulateTuningTest, PreciseFindsWhatSerialFinds) {
  for (const fake::Setting& setting :
       {fake::StartUpSetting(), fake::KernelSetting(), fake::BuildSetting(),
        fake::NoGainSetting()}) {
    EXPECT_LT(Compare(setting, "precise").worst_choice, 0.02) << setting.name;
  }
}

TEST(SimulateTuningTest, NaiveDoesNot) {
  EXPECT_GT(Compare(fake::StartUpSetting(), "naive").worst_choice, 0.02);
}

TEST(SimulateTuningTest, StartUpsOverlap) {
  EXPECT_GT(Compare(fake::StartUpSetting(), "precise").least_saved, 0.15);
}

TEST(SimulateTuningTest, WhereParallelismDoesNotHelpItCostsLittle) {
  EXPECT_GT(Compare(fake::NoGainSetting(), "precise").least_saved, -0.05);
}

// Three such kernels fit, and two at a time do not disturb each other.
TEST(SimulateTuningTest, SmallProgramsAreMeasuredTogether) {
  const fake::Setting setting = fake::KernelSetting();
  fake::FakeProgram program = fake::DrawProgram(setting, 500, 0, 0);
  program.demand = {0.3, 0.3};
  const TuningResult serial = Tune(setting, program, "serial", 0);
  const TuningResult precise = Tune(setting, program, "precise", 0);
  EXPECT_LT(precise.time_s, 0.7 * serial.time_s);
  EXPECT_EQ(precise.chosen_ns, serial.chosen_ns);
}

// The largest and the smallest degree of the rounds after 64 candidates.
std::pair<int, int> SettledDegrees(const TuningResult& result) {
  int candidates = 0, largest = 1, smallest = 64;
  for (const RoundReport& round : result.rounds) {
    if (candidates >= 64) {
      largest = std::max(largest, round.degree);
      smallest = std::min(smallest, round.degree);
    }
    candidates += round.candidates;
  }
  EXPECT_EQ(candidates, 500);
  return {largest, smallest};
}

TEST(SimulateTuningTest, ProgramsThatFillTheDeviceStayAtThreeOrLess) {
  const fake::Setting setting = fake::NoGainSetting();
  for (uint64_t p = 0; p < 24; ++p) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      const TuningResult result = Tune(
          setting, fake::DrawProgram(setting, 500, p, seed), "precise", seed);
      EXPECT_LE(SettledDegrees(result).first, 3) << p << ", " << seed;
    }
  }
}

// Algorithm 2 increases after each decrease: section 5.4's "DP 1-3" is out of
// its reach.
TEST(SimulateTuningTest, AsInThePaperTheyNeverComeDown) {
  const fake::Setting setting = fake::NoGainSetting();
  const fake::FakeProgram program = fake::DrawProgram(setting, 500, 0, 0);
  EXPECT_GE(
      SettledDegrees(Tune(setting, program, "precise, as in the paper", 0))
          .second,
      8);
  EXPECT_EQ(SettledDegrees(Tune(setting, program,
                                "the same, decreases without increases", 0))
                .second,
            1);
}

TEST(SimulateTuningTest, EqualSeedsGiveEqualSessions) {
  const fake::Setting setting = fake::StartUpSetting();
  const fake::FakeProgram program = fake::DrawProgram(setting, 500, 1, 1);
  const TuningResult a = Tune(setting, program, "precise", 5);
  const TuningResult b = Tune(setting, program, "precise", 5);
  EXPECT_EQ(a.time_s, b.time_s);
  EXPECT_EQ(a.rounds.size(), b.rounds.size());
}

}  // namespace
}  // namespace tilewright::measure
