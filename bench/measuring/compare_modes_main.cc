// Measures the same candidates of real workloads on this CPU in every mode:
// serial twice, two at a time with the calibrator, with fewer executions (fixed
// or adaptive), and with both. Serial is measured by the same workers.
//
//   compare_modes [--candidates=200] [--repeats=500] [--seconds=10] [--seed=1]
//                 [--micro_batches=50] [--cv_percent=10,3,1] [--build-beside]
//                 [--pause] FILE...
//
// A file holds a workload in text form. Candidates are the default schedule
// with one to three decisions changed, kept if right and at most three times
// slower; all are built and verified before the clock starts. Where `repeats`
// executions of all of them would take longer than `seconds`, there are fewer.
// Adaptive rows: AdaTune's (a tenth of the repeats in a micro-batch, CV below
// 10 %), then one for each of --cv_percent with so many micro-batches; then
// two at a time with our threshold. Beside each kind stands the fixed number
// that is its floor of three micro-batches.
// With --build-beside there are rows of passes that begin with nothing built or
// verified: serial, which builds each batch first, and two at a time with
// builders beside them, which run on or are stopped while candidates are
// executed. What they save is against that serial pass.
// With --pause it waits for a line on standard input once all are prepared:
// until the machine is quiet.
// Prints rows of the tables in docs/results/parallel_measuring.md.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "bench/measuring/kendall_tau.h"
#include "bench/measuring/named_workload.h"
#include "bench/measuring/tuning_pass.h"
#include "bench/measuring/workload_main.h"
#include "measure/parallel/adaptive_evaluator.h"
#include "measure/parallel/parallel_measurer.h"
#include "measure/parallel/worker_pool.h"
#include "measure/worker/pool/process_pool.h"

namespace tilewright::bench {
namespace {

using measure::AdaptiveEvaluatorOptions;
using measure::MeasureMode;
using measure::ParallelMeasurerOptions;

constexpr double kSlowest = 3;
constexpr int kMinRepeats = 20;
constexpr int kMeasuredAtATime = 2;
constexpr int kTurns = 5;
// A pass counts if others had less of the cores; else it is made again, at most
// so often in all, and the quietest one counts.
constexpr double kQuietPercent = 5;
constexpr int kTries = 3;

struct Flags {
  int candidates = 200;
  int repeats = 500;
  double seconds = 10;
  int64_t seed = 1;
  int micro_batches = 50;
  std::vector<int> cv_percent = {10, 3, 1};
  bool build_beside = false;
  bool pause = false;
};

enum class Beside { kAllBuilt, kBuildsFirst, kBuilders, kStoppedBuilders };

constexpr char kSerialAgain[] = "serial again";

struct Pass {
  std::string name;
  bool precise;
  AdaptiveEvaluatorOptions repeats;
  PassResult result;
  Beside beside = Beside::kAllBuilt;
};

// Options for `repeats` repeats in so many micro-batches.
AdaptiveEvaluatorOptions Adaptive(int repeats, int micro_batches,
                                  double threshold) {
  AdaptiveEvaluatorOptions options = AdaptiveEvaluatorOptions::AsInPaper();
  options.max_repeats = repeats;
  options.micro_batch = std::max(1, repeats / micro_batches);
  options.threshold = threshold;
  return options;
}

// As many as an adaptive one executes at least.
AdaptiveEvaluatorOptions Floor(const AdaptiveEvaluatorOptions& adaptive) {
  return AdaptiveEvaluatorOptions::Fixed(adaptive.min_micro_batches *
                                         adaptive.micro_batch);
}

std::vector<Pass> Passes(const Flags& flags, int repeats) {
  const auto fixed = AdaptiveEvaluatorOptions::Fixed(repeats);
  const AdaptiveEvaluatorOptions adatune =
      Adaptive(repeats, /*micro_batches=*/10, /*threshold=*/0.1);
  std::vector<Pass> passes = {
      {"serial", false, fixed, {}},
      {"two at a time", true, fixed, {}},
      {"fixed, as few as AdaTune's", false, Floor(adatune), {}},
      {"adaptive as AdaTune's", false, adatune, {}},
      {"fixed, few",
       false,
       Floor(Adaptive(repeats, flags.micro_batches, 0)),
       {}}};
  for (const int percent : flags.cv_percent) {
    passes.push_back({absl::StrCat("adaptive, ", percent, " %"),
                      false,
                      Adaptive(repeats, flags.micro_batches, 0.01 * percent),
                      {}});
  }
  passes.push_back({"both",
                    true,
                    Adaptive(repeats, flags.micro_batches,
                             AdaptiveEvaluatorOptions().threshold),
                    {}});
  passes.push_back({kSerialAgain, false, fixed, {}});
  if (flags.build_beside) {
    passes.push_back(
        {"serial, builds first", false, fixed, {}, Beside::kBuildsFirst});
    passes.push_back(
        {"two, builders beside", true, fixed, {}, Beside::kBuilders});
    passes.push_back(
        {"two, builders stopped", true, fixed, {}, Beside::kStoppedBuilders});
  }
  return passes;
}

ParallelMeasurerOptions ModeOf(const Pass& pass) {
  ParallelMeasurerOptions options =
      ParallelMeasurerOptions::ForCores(kMeasuredAtATime);
  options.mode = pass.precise ? MeasureMode::kPrecise : MeasureMode::kSerial;
  options.repeats = pass.repeats;
  return options;
}

measure::ProcessPoolOptions PoolOptions(bool stop_builders) {
  measure::ProcessPoolOptions options;
  options.backend = "cpu";
  options.workers = kMeasuredAtATime;
  if (stop_builders) options.cores = kMeasuredAtATime;
  return options;
}

struct Subject {
  std::string name;
  CandidateSet candidates;
};

absl::StatusOr<Subject> Draw(const std::string& path, const Flags& flags,
                             measure::WorkerPool* pool) {
  TW_ASSIGN_OR_RETURN(const NamedWorkload named, ReadWorkload(path));
  Subject subject{named.name, {}};
  TW_ASSIGN_OR_RETURN(
      subject.candidates,
      DrawCandidates(named.workload, named.spec, flags.candidates, kSlowest,
                     static_cast<uint64_t>(flags.seed), pool));
  std::fprintf(stderr, "%s: default %.1f us, mean %.1f us, %d drawn\n",
               subject.name.c_str(), subject.candidates.default_ns * 1e-3,
               subject.candidates.mean_ns * 1e-3, subject.candidates.drawn);
  return subject;
}

// By how much more than nine in ten candidates differ between two passes that
// measure them in the same way, as a share.
double Noise(const PassResult& one, const PassResult& again) {
  std::vector<double> differences;
  for (size_t i = 0; i < one.latencies_ns.size(); ++i) {
    const double ratio = again.latencies_ns[i] / one.latencies_ns[i];
    if (!std::isnan(ratio)) differences.push_back(std::abs(ratio - 1));
  }
  if (differences.empty()) return 0;
  const auto place = differences.begin() +
                     static_cast<std::ptrdiff_t>(differences.size() * 9 / 10);
  std::nth_element(differences.begin(), place, differences.end());
  return *place;
}

// `warm`: in which everything is built and verified.
absl::StatusOr<PassResult> RunPassBeside(const CandidateSet& candidates,
                                         ParallelMeasurerOptions options,
                                         Beside beside,
                                         measure::WorkerPool* warm) {
  if (beside == Beside::kAllBuilt) return RunPass(candidates, options, warm);
  options.overlap_builds = beside != Beside::kBuildsFirst;
  TW_ASSIGN_OR_RETURN(const auto pool,
                      measure::ProcessPool::Create(
                          PoolOptions(beside == Beside::kStoppedBuilders)));
  return RunPass(candidates, options, pool.get());
}

absl::Status Compare(const Subject& subject, const Flags& flags,
                     measure::WorkerPool* pool) {
  const CandidateSet& candidates = subject.candidates;
  const int affordable = static_cast<int>(
      flags.seconds * 1e9 / (candidates.mean_ns * flags.candidates));
  const int repeats = std::clamp(affordable, kMinRepeats, flags.repeats);
  std::vector<Pass> passes = Passes(flags, repeats);
  std::vector<int> chosen;
  for (Pass& pass : passes) {
    for (int tries = 0; tries < kTries; ++tries) {
      TW_ASSIGN_OR_RETURN(
          PassResult result,
          RunPassBeside(candidates, ModeOf(pass), pass.beside, pool));
      if (tries == 0 || result.foreign_percent < pass.result.foreign_percent) {
        pass.result = std::move(result);
      }
      if (pass.result.foreign_percent < kQuietPercent) break;
    }
    chosen.push_back(pass.result.chosen);
  }
  TW_ASSIGN_OR_RETURN(
      const std::vector<double> alone_ns,
      MeasureInterleaved(candidates, chosen, kTurns, repeats, pool));
  const PassResult& serial = passes[0].result;
  const auto again =
      std::find_if(passes.begin(), passes.end(),
                   [](const Pass& pass) { return pass.name == kSerialAgain; });
  const double noise = Noise(serial, again->result);
  double serial_s = serial.wall_s;
  std::fprintf(stderr, "%s: noise %.1f %%\n", subject.name.c_str(),
               100 * noise);
  for (size_t i = 0; i < passes.size(); ++i) {
    const PassResult& one = passes[i].result;
    if (passes[i].beside == Beside::kBuildsFirst) serial_s = one.wall_s;
    std::printf(
        "| %s | %s | %.0f | %.2f | %.1f | %d | %.3f | %.3f | #%d | %+.1f | "
        "%.1f |\n",
        subject.name.c_str(), passes[i].name.c_str(), one.samples, one.wall_s,
        100 * (1 - one.wall_s / serial_s), one.repeated,
        KendallTau(serial.latencies_ns, one.latencies_ns),
        KendallTau(serial.latencies_ns, one.latencies_ns, noise), one.chosen,
        100 * (alone_ns[i] / alone_ns[0] - 1), one.foreign_percent);
  }
  std::fflush(stdout);
  return absl::OkStatus();
}

absl::Status Run(const Flags& flags, const std::vector<std::string>& files) {
  TW_ASSIGN_OR_RETURN(const auto pool,
                      measure::ProcessPool::Create(PoolOptions(false)));
  std::vector<Subject> subjects;
  for (const std::string& file : files) {
    absl::StatusOr<Subject> subject = Draw(file, flags, pool.get());
    if (!subject.ok()) {
      std::fprintf(stderr, "%s: %s\n", file.c_str(),
                   std::string(subject.status().message()).c_str());
      continue;
    }
    subjects.push_back(*std::move(subject));
  }
  std::printf(
      "| workload | measured | samples | wall s | saved %% | repeated | tau | "
      "tau apart | chosen | worse %% | others %% |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n");
  std::fflush(stdout);
  if (flags.pause) {
    std::fprintf(stderr, "prepared\n");
    if (std::getchar() == EOF) return absl::OkStatus();
  }
  for (const Subject& subject : subjects) {
    TW_RETURN_IF_ERROR(Compare(subject, flags, pool.get()));
  }
  return absl::OkStatus();
}

constexpr char kUsage[] =
    "[--candidates=N] [--repeats=N] [--seconds=S] [--seed=N] "
    "[--micro_batches=N] [--cv_percent=N,N...] [--build-beside] [--pause]";

int Main(int argc, char** argv) {
  Flags flags;
  OptionParser options;
  options.Number("candidates", &flags.candidates, 2);
  options.Number("repeats", &flags.repeats, kMinRepeats);
  options.Number("seconds", &flags.seconds, 0.0);
  options.Number("seed", &flags.seed, 0);
  options.Number("micro_batches", &flags.micro_batches, 1);
  options.List("cv_percent", &flags.cv_percent, 0);
  options.Flag("build-beside", &flags.build_beside);
  options.Flag("pause", &flags.pause);
  return RunOnFiles(
      argc, argv, "compare_modes", kUsage, options,
      [&](const std::vector<std::string>& files) { return Run(flags, files); });
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) { return tilewright::bench::Main(argc, argv); }
