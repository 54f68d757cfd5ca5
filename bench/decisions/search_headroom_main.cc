// How much faster the kernels of workloads become by other decisions than the
// rules', found by drawing tables at random and by mutating the rules'.
//
//   search_headroom [--draws=200] [--seed=1] [--finalists=4] [--turns=7]
//                   [--processes=3] [--screen-ms=10] [--compare-ms=30]
//                   [--builders=2] FILE[@CLASS]...
//
// A file holds a workload in text form (bench/measuring/named_workload.h);
// kernels are for this CPU, or for the class of CPU behind the @ ("x86-64-v3").
// One candidate is executed at a time, with one thread on warm caches, after it
// was verified and after all of a workload are built. Prints a table in
// Markdown (headroom.h says what is in it); on stderr, what was wrong with
// which table, and how much of the machine others had.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "base/clock.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "bench/decisions/headroom.h"
#include "bench/decisions/headroom_table.h"
#include "bench/measuring/foreign_load.h"
#include "bench/measuring/named_workload.h"
#include "bench/measuring/workload_main.h"
#include "measure/parallel/parallel_measurer.h"
#include "measure/worker/pool/process_pool.h"

namespace tilewright::bench {
namespace {

using measure::Measurement;

struct Flags {
  HeadroomOptions search;
  double screen_ms = 10, compare_ms = 30;
  int builders = 2;
};

// One candidate at a time in processes of its own.
class AloneMeasurer : public measure::Measurer {
 public:
  AloneMeasurer(std::unique_ptr<measure::ProcessPool> pool,
                const measure::ParallelMeasurerOptions& options)
      : pool_(std::move(pool)), measurer_(pool_.get(), options) {}

 protected:
  absl::StatusOr<std::vector<Measurement>> DoMeasure(
      const measure::MeasureBatch& batch) override {
    return measurer_.MeasureAlone(batch.workload, batch.schedules,
                                  batch.options);
  }

 private:
  const std::unique_ptr<measure::ProcessPool> pool_;
  measure::ParallelMeasurer measurer_;
};

NewMeasurer MeasurersFor(const std::string& cpu_class, int builders) {
  return [cpu_class, builders](const measure::AdaptiveEvaluatorOptions& repeats)
             -> absl::StatusOr<std::unique_ptr<measure::Measurer>> {
    measure::ProcessPoolOptions pool_options;
    pool_options.backend = "cpu";
    pool_options.backend_options = cpu_class;
    pool_options.workers = 1;
    pool_options.builders = builders;
    TW_ASSIGN_OR_RETURN(std::unique_ptr<measure::ProcessPool> pool,
                        measure::ProcessPool::Create(pool_options));
    measure::ParallelMeasurerOptions options;
    options.mode = measure::MeasureMode::kSerial;
    options.overlap_builds = false;
    options.compared = measure::Compared::kLow;
    options.repeats = repeats;
    return std::make_unique<AloneMeasurer>(std::move(pool), options);
  };
}

measure::AdaptiveEvaluatorOptions Within(double ms) {
  measure::AdaptiveEvaluatorOptions repeats =
      measure::AdaptiveEvaluatorOptions::Fixed(10000);
  repeats.most_seconds = ms * 1e-3;
  repeats.min_repeats = 1;
  return repeats;
}

absl::Status RunOn(const std::string& argument, const Flags& flags) {
  const size_t at = argument.rfind('@');
  const std::string path = argument.substr(0, at);
  const std::string cpu_class =
      at == std::string::npos ? "" : argument.substr(at + 1);
  TW_ASSIGN_OR_RETURN(const NamedWorkload named, ReadWorkload(path, cpu_class));
  TW_ASSIGN_OR_RETURN(const auto codegen, cpu::CreateCpuCodegen(named.spec));
  const ForeignLoad load;
  const int64_t start_ns = RealClock()->WallNs();
  TW_ASSIGN_OR_RETURN(
      const Headroom headroom,
      FindHeadroom({named.workload, named.generator, *codegen}, flags.search,
                   MeasurersFor(cpu_class, flags.builders)));
  const std::string name = cpu_class.empty()
                               ? named.name
                               : absl::StrCat(named.name, " (", cpu_class, ")");
  std::printf("%s", HeadroomRow(name, headroom).c_str());
  std::fflush(stdout);
  for (const SourceHeadroom* source : {&headroom.random, &headroom.mutated}) {
    for (const std::string& fault : source->faults)
      std::fprintf(stderr, "%s: %s\n", name.c_str(), fault.c_str());
    if (source->best) {
      std::fprintf(stderr, "%s: best %s: %s\n", name.c_str(),
                   source == &headroom.random ? "random" : "mutated",
                   DifferenceOf(headroom.rule, *source->best).c_str());
    }
  }
  std::fprintf(stderr, "%s: %.0f s, others had %.0f %% of the cores\n",
               name.c_str(),
               static_cast<double>(RealClock()->WallNs() - start_ns) * 1e-9,
               load.Percent());
  return absl::OkStatus();
}

// A workload that fails does not end the others.
absl::Status Run(Flags flags, const std::vector<std::string>& arguments) {
  flags.search.screening = Within(flags.screen_ms);
  flags.search.comparing = Within(flags.compare_ms);
  std::printf("%s", HeadroomHead().c_str());
  absl::Status first;
  for (const std::string& argument : arguments) {
    const absl::Status status = RunOn(argument, flags);
    if (status.ok()) continue;
    std::fprintf(stderr, "%s: %s\n", argument.c_str(),
                 std::string(status.message()).c_str());
    first.Update(status);
  }
  return first;
}

constexpr char kUsage[] =
    "[--draws=N] [--seed=N] [--finalists=N] [--turns=N] [--processes=N] "
    "[--screen-ms=MS] [--compare-ms=MS] [--builders=N]";

int Main(int argc, char** argv) {
  Flags flags;
  int64_t seed = 1;
  OptionParser options;
  options.Number("draws", &flags.search.draws, 1);
  options.Number("seed", &seed, 0);
  options.Number("finalists", &flags.search.finalists, 1);
  options.Number("turns", &flags.search.turns, 1);
  options.Number("processes", &flags.search.processes, 1);
  options.Number("screen-ms", &flags.screen_ms, 0.0);
  options.Number("compare-ms", &flags.compare_ms, 0.0);
  options.Number("builders", &flags.builders, 1);
  return RunOnFiles(argc, argv, "search_headroom", kUsage, options,
                    [&](const std::vector<std::string>& files) {
                      flags.search.seed = static_cast<uint64_t>(seed);
                      return Run(flags, files);
                    });
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) { return tilewright::bench::Main(argc, argv); }
