// The tables of docs/results/parallel_measuring.md. Deterministic.
//
//   bazel run //measure/simulation:simulate -- [PROGRAMS] [SEEDS]

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "base/check.h"
#include "measure/median.h"
#include "measure/simulation/simulate_tuning.h"

namespace tilewright::measure {
namespace {

// What the table says about one contender in one setting.
struct Column {
  std::vector<double> time_s, saved_percent, worse_percent, repeated, degree;
  std::vector<double> settled_degree;  // the largest after 128 candidates
};

double Smallest(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
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
    if (candidates >= 128) settled = std::max<double>(settled, round.degree);
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

// Against serial that overlaps builds with measuring, or does not. If workers
// stay, all but that serial one have contexts that are started once.
void PrintTable(const std::vector<fake::Setting>& settings, bool overlap_builds,
                bool serial_overlaps, int programs, int seeds,
                bool workers_stay = false) {
  std::printf(kHeader);
  const std::vector<Contender> contenders = Contenders(overlap_builds);
  const ParallelMeasurerOptions serial_options =
      Contenders(serial_overlaps)[0].options;
  for (const fake::Setting& setting : settings) {
    fake::Setting of_contenders = setting;
    if (workers_stay) of_contenders.new_context_per_candidate = false;
    std::vector<Column> columns(contenders.size());
    for (int p = 0; p < programs; ++p) {
      for (int s = 0; s < seeds; ++s) {
        const fake::FakeProgram program = fake::DrawProgram(
            setting, TuningOptions().trials, static_cast<uint64_t>(p),
            static_cast<uint64_t>(s));
        const uint64_t seed = static_cast<uint64_t>(s);
        const TuningResult serial =
            Tune(setting, program, serial_options, seed);
        for (size_t i = 0; i < contenders.size(); ++i) {
          Add(Tune(of_contenders, program, contenders[i].options, seed), serial,
              columns[i]);
        }
      }
    }
    for (size_t i = 0; i < contenders.size(); ++i) {
      Print(setting.name, contenders[i].name, columns[i]);
    }
  }
}

// The degree over time, one line for each demand.
void PrintDegrees() {
  const fake::Setting setting = fake::KernelSetting();
  for (const double demand : {0.1, 0.3, 0.5, 1.0}) {
    fake::FakeProgram program =
        fake::DrawProgram(setting, TuningOptions().trials, 0, 0);
    program.demand = {demand, demand};
    const TuningResult result =
        Tune(setting, program, Contenders(false)[4].options, 0);
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

// Fixed and adaptive numbers of repeats, of 500.
void PrintAdaptive(int programs) {
  std::printf(
      "| setting | measured | repeats | time s | saved %% | range | best worse "
      "by > 2 %% | worst %% |\n|---|---|---|---|---|---|---|---|\n");
  for (const fake::Setting& setting :
       {fake::StartUpSetting(), fake::KernelSetting()}) {
    for (const size_t contender : {size_t{0}, size_t{4}}) {
      for (const bool adaptive : {false, true}) {
        Column column;
        for (int p = 0; p < programs; ++p) {
          const fake::FakeProgram program = fake::DrawProgram(
              setting, TuningOptions().trials, static_cast<uint64_t>(p), 0);
          ParallelMeasurerOptions serial = Contenders(false)[0].options;
          serial.repeats = AdaptiveEvaluatorOptions::Fixed(500);
          ParallelMeasurerOptions options =
              Contenders(false)[contender].options;
          options.repeats = adaptive ? AdaptiveEvaluatorOptions()
                                     : AdaptiveEvaluatorOptions::Fixed(500);
          Add(Tune(setting, program, options, 0),
              Tune(setting, program, serial, 0), column);
        }
        int wrong = 0;
        for (const double percent : column.worse_percent) wrong += percent > 2;
        std::printf(
            "| %s | %s | %s | %.0f | %.1f | %.1f to %.1f | %d of %d | "
            "%.1f |\n",
            setting.name.c_str(), Contenders(false)[contender].name.c_str(),
            adaptive ? "adaptive" : "500", Median(column.time_s),
            Median(column.saved_percent), Smallest(column.saved_percent),
            Largest(column.saved_percent), wrong, programs,
            Largest(column.worse_percent));
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
  std::printf("A batch is built, then measured:\n\n");
  PrintTable(settings, false, false, programs, seeds);
  std::printf("\nMeasured as soon as built, serial too:\n\n");
  PrintTable(settings, true, true, programs, seeds);
  std::printf(
      "\nMeasured as soon as built, but serial builds a batch first:\n\n");
  PrintTable({fake::StartUpSetting()}, true, false, programs, seeds);
  std::printf(
      "\nBuilt first, serial with a process per candidate, the others with "
      "workers that stay:\n\n");
  PrintTable({fake::StartUpSetting()}, false, false, programs, seeds, true);
  std::printf("\nDegrees of parallelism, kernel setting:\n\n");
  PrintDegrees();
  std::printf("\nRepeats, a batch built first, against serial with 500:\n\n");
  PrintAdaptive(programs);
  return 0;
}

}  // namespace
}  // namespace tilewright::measure

int main(int argc, char** argv) {
  return tilewright::measure::Main(argc, argv);
}
