// The tables of docs/results/parallel_measuring.md. Deterministic.
//
//   bazel run //measure/simulation:simulate -- [PROGRAMS] [SEEDS]

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "backends/fake/device/fake_program.h"
#include "base/check.h"
#include "measure/parallel/adaptive_evaluator.h"
#include "measure/parallel/parallel_measurer.h"
#include "measure/simulation/simulate_tuning.h"
#include "measure/stats/latency_summary.h"
#include "measure/stats/median.h"

namespace tilewright::measure {
namespace {

constexpr int kSettledAfter = 128;  // candidates

// The table's figures of one contender in one setting.
struct Column {
  std::vector<double> time_s, saved_percent, worse_percent, repeated, degree;
  std::vector<double> settled_degree;  // the largest then
};

double Smallest(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}
double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}
double Largest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

void Add(const TuningResult& result, const TuningResult& serial,
         Column& column) {
  column.time_s.push_back(result.time_s);
  column.saved_percent.push_back(100 * (1 - result.time_s / serial.time_s));
  column.worse_percent.push_back(100 *
                                 (result.chosen_ns / serial.chosen_ns - 1));
  double repeated = 0, weighted = 0, candidates = 0, settled = 0;
  for (const RoundReport& round : result.rounds) {
    if (candidates >= kSettledAfter)
      settled = std::max<double>(settled, round.degree);
    repeated += round.repeated;
    weighted += round.degree * round.candidates;
    candidates += round.candidates;
  }
  column.repeated.push_back(repeated);
  column.degree.push_back(candidates == 0 ? 0 : weighted / candidates);
  column.settled_degree.push_back(settled);
}

void Print(const std::string& setting, const std::string& name,
           const Column& column) {
  int wrong = 0;
  for (const double percent : column.worse_percent) wrong += percent > 2;
  std::printf("| %s | %s | %.0f | %.1f | %.1f to %.1f | %d of %zu | %.1f | ",
              setting.c_str(), name.c_str(), Median(column.time_s),
              Median(column.saved_percent), Smallest(column.saved_percent),
              Largest(column.saved_percent), wrong, column.worse_percent.size(),
              Largest(column.worse_percent));
  if (Largest(column.degree) == 0) {
    std::printf("| | |\n");
  } else {
    std::printf("%.1f | %.0f | %.0f |\n", Median(column.degree),
                Largest(column.settled_degree), Median(column.repeated));
  }
}

TuningResult Tune(const fake::Setting& setting,
                  const fake::FakeProgram& program,
                  const ParallelMeasurerOptions& measurer, uint64_t seed) {
  TuningOptions options;
  options.measurer = measurer;
  options.seed = seed;
  absl::StatusOr<TuningResult> result =
      SimulateTuning(setting, program, options);
  TW_CHECK_OK(result);
  return *std::move(result);
}

const char kHeader[] =
    "| setting | measured | time s | saved %% | range | best worse by > 2 %% | "
    "worst %% | mean DP | settled DP at most | repeated |\n"
    "|---|---|---|---|---|---|---|---|---|---|\n";

// Calls `use` with every program, of the setting, and its seed.
template <typename Use>
void ForEachSession(const fake::Setting& setting, int programs, int seeds,
                    const Use& use) {
  for (int p = 0; p < programs; ++p) {
    for (int s = 0; s < seeds; ++s) {
      const auto seed = static_cast<uint64_t>(s);
      use(fake::DrawProgram(setting, TuningOptions().trials,
                            static_cast<uint64_t>(p), seed),
          seed);
    }
  }
}

// How many candidates of sessions were measured at which degree.
struct Degrees {
  int sessions = 0, sessions_above_3 = 0;
  double one = 0, up_to_3 = 0, above_3 = 0, largest = 0;
};

// Adds the rounds that come after 128 candidates.
void Add(const TuningResult& result, Degrees& degrees) {
  int candidates = 0;
  bool above = false;
  for (const RoundReport& round : result.rounds) {
    candidates += round.candidates;
    if (candidates - round.candidates < kSettledAfter) continue;
    degrees.largest = std::max<double>(degrees.largest, round.degree);
    above = above || round.degree > 3;
    (round.degree == 1   ? degrees.one
     : round.degree <= 3 ? degrees.up_to_3
                         : degrees.above_3) += round.candidates;
  }
  ++degrees.sessions;
  degrees.sessions_above_3 += above;
}

void Print(const std::string& setting, const std::string& name,
           const Degrees& degrees) {
  const double all = degrees.one + degrees.up_to_3 + degrees.above_3;
  if (all == 0) return;
  std::printf("| %s | %s | %.1f | %.1f | %.1f | %.0f | %d of %d |\n",
              setting.c_str(), name.c_str(), 100 * degrees.one / all,
              100 * degrees.up_to_3 / all, 100 * degrees.above_3 / all,
              degrees.largest, degrees.sessions_above_3, degrees.sessions);
}

// All with the same overlap of builds with measuring, serial as well.
void PrintTable(const std::vector<fake::Setting>& settings, bool overlap_builds,
                int programs, int seeds) {
  std::printf(kHeader);
  const std::vector<Contender> contenders = Contenders(overlap_builds);
  std::vector<Degrees> degrees_of_no_gain(contenders.size());
  for (const fake::Setting& setting : settings) {
    std::vector<Column> columns(contenders.size());
    const auto measure = [&](const fake::FakeProgram& program, uint64_t seed) {
      const TuningResult serial =
          Tune(setting, program, contenders[0].options, seed);
      for (size_t i = 0; i < contenders.size(); ++i) {
        const TuningResult result =
            i == 0 ? serial
                   : Tune(setting, program, contenders[i].options, seed);
        Add(result, serial, columns[i]);
        if (setting.fills_device) Add(result, degrees_of_no_gain[i]);
      }
    };
    ForEachSession(setting, programs, seeds, measure);
    for (size_t i = 0; i < contenders.size(); ++i) {
      Print(setting.name, contenders[i].name, columns[i]);
    }
  }
  std::printf(
      "\nOf the candidates after the first %d, by degree of parallelism:\n\n"
      "| setting | measured | 1 %% | 2 and 3 %% | above 3 %% | largest | "
      "sessions above 3 |\n|---|---|---|---|---|---|---|\n",
      kSettledAfter);
  for (size_t i = 0; i < contenders.size(); ++i) {
    Print("no gain", contenders[i].name, degrees_of_no_gain[i]);
  }
}

// Precise against a serial rival that does less at a time than it could: what
// DOPpler's paper compares with.
void PrintOtherRival(const char* rival, const fake::Setting& serial_setting,
                     bool serial_overlaps, const fake::Setting& setting,
                     bool overlap_builds, int programs, int seeds) {
  Column column;
  ForEachSession(setting, programs, seeds,
                 [&](const fake::FakeProgram& program, uint64_t seed) {
                   Add(Tune(setting, program,
                            ContenderNamed("precise", overlap_builds), seed),
                       Tune(serial_setting, program,
                            ContenderNamed("serial", serial_overlaps), seed),
                       column);
                 });
  std::printf("| %s | %s | %.1f | %.1f to %.1f |\n", setting.name.c_str(),
              rival, Median(column.saved_percent),
              Smallest(column.saved_percent), Largest(column.saved_percent));
}

void PrintOtherRivals(int programs, int seeds) {
  std::printf(
      "| setting | serial | precise saves %% | range |\n|---|---|---|---|\n");
  const fake::Setting start_up = fake::StartUpSetting();
  PrintOtherRival("builds a batch first; precise does not", start_up, false,
                  start_up, true, programs, seeds);
  fake::Setting workers_stay = start_up;
  workers_stay.new_context_per_candidate = false;
  PrintOtherRival("has a process per candidate; precise does not", start_up,
                  false, workers_stay, false, programs, seeds);
}

// The degree over time, one line for each demand.
void PrintDegrees() {
  const fake::Setting setting = fake::KernelSetting();
  for (const double demand : {0.1, 0.3, 0.5, 1.0}) {
    fake::FakeProgram program =
        fake::DrawProgram(setting, TuningOptions().trials, 0, 0);
    program.demand = {demand, demand};
    const TuningResult result =
        Tune(setting, program, ContenderNamed("precise", false), 0);
    std::printf("u = v = %.1f:", demand);
    int degree = 0, rounds = 0;
    const auto flush = [&] {
      if (rounds > 1) std::printf(" (x%d)", rounds);
    };
    for (const RoundReport& round : result.rounds) {
      if (round.degree == degree) {
        ++rounds;
        continue;
      }
      flush();
      degree = round.degree;
      rounds = 1;
      std::printf(" %d", degree);
    }
    flush();
    std::printf("\n");
  }
}

struct Repeats {
  std::string name;
  AdaptiveEvaluatorOptions options;
};

// Micro-batches of ten: never fewer than 30.
Repeats Stops(double threshold) {
  Repeats repeats;
  repeats.options = AdaptiveEvaluatorOptions::AsInPaper();
  repeats.options.micro_batch = 10;
  repeats.options.threshold = threshold;
  repeats.name = absl::StrCat("by 10, CV below ", threshold);
  return repeats;
}

// Fixed and adaptive numbers of repeats, of 500, compared by median and by
// mean: how far the chosen candidate's true latency is above the smallest one.
void PrintRepeats(int programs, int seeds) {
  const std::vector<Repeats> rows = {
      {"500", AdaptiveEvaluatorOptions::Fixed(500)},
      {"150", AdaptiveEvaluatorOptions::Fixed(150)},
      {"AdaTune: by 50, CV below 0.1", AdaptiveEvaluatorOptions::AsInPaper()},
      {"30", AdaptiveEvaluatorOptions::Fixed(30)},
      Stops(0.1),
      {"65", AdaptiveEvaluatorOptions::Fixed(65)},
      Stops(0.03),
      {"175", AdaptiveEvaluatorOptions::Fixed(175)},
      Stops(0.01)};
  std::printf(
      "| setting | measured | repeats | executions | time s | saved %% | range "
      "| error %% | worst | by mean: error %% | worst |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const fake::Setting& setting :
       {fake::StartUpSetting(), fake::KernelSetting()}) {
    std::vector<double> serial_s;
    for (const char* const contender : {"serial", "precise"}) {
      for (const Repeats& row : rows) {
        std::vector<double> time_s, saved_percent, executions, error, by_mean;
        ForEachSession(
            setting, programs, seeds,
            [&](const fake::FakeProgram& program, uint64_t seed) {
              ParallelMeasurerOptions options =
                  ContenderNamed(contender, /*overlap_builds=*/true);
              options.repeats = row.options;
              const TuningResult result = Tune(setting, program, options, seed);
              options.compared = Compared::kMean;
              const TuningResult means = Tune(setting, program, options, seed);
              const size_t session = time_s.size();
              if (session == serial_s.size()) serial_s.push_back(result.time_s);
              time_s.push_back(result.time_s);
              saved_percent.push_back(100 *
                                      (1 - result.time_s / serial_s[session]));
              executions.push_back(result.executions);
              error.push_back(100 * (result.chosen_ns / result.best_ns - 1));
              by_mean.push_back(100 * (means.chosen_ns / means.best_ns - 1));
            });
        std::printf(
            "| %s | %s | %s | %.0f | %.0f | %.1f | %.1f to %.1f | %.2f | %.1f "
            "| %.2f | %.1f |\n",
            setting.name.c_str(), contender, row.name.c_str(), Mean(executions),
            Median(time_s), Median(saved_percent), Smallest(saved_percent),
            Largest(saved_percent), Mean(error), Largest(error), Mean(by_mean),
            Largest(by_mean));
      }
    }
  }
}

bool ParseCount(const char* text, int& count) {
  return absl::SimpleAtoi(text, &count) && count > 0;
}

int Main(int argc, char** argv) {
  int programs = 24, seeds = 10;
  if (argc > 3 || (argc > 1 && !ParseCount(argv[1], programs)) ||
      (argc > 2 && !ParseCount(argv[2], seeds))) {
    std::fprintf(stderr, "usage: simulate [PROGRAMS] [SEEDS]\n");
    return 2;
  }
  const std::vector<fake::Setting> settings = {
      fake::StartUpSetting(), fake::KernelSetting(), fake::BuildSetting(),
      fake::NoGainSetting()};
  std::printf("%d programs x %d seeds, 500 trials each\n\n", programs, seeds);
  std::printf("Measured as soon as built, serial too:\n\n");
  PrintTable(settings, true, programs, seeds);
  std::printf("\nA batch is built, then measured, for serial too:\n\n");
  PrintTable(settings, false, programs, seeds);
  std::printf("\nAgainst a serial rival that does less at a time:\n\n");
  PrintOtherRivals(programs, seeds);
  std::printf("\nDegrees of parallelism, kernel setting:\n\n");
  PrintDegrees();
  std::printf(
      "\nRepeats, measured as soon as built, against serial with 500:\n\n");
  PrintRepeats(programs, seeds);
  return 0;
}

}  // namespace
}  // namespace tilewright::measure

int main(int argc, char** argv) {
  return tilewright::measure::Main(argc, argv);
}
