// How many candidates a second this CPU builds, verifies and measures, in a
// search over several workloads that takes them interleaved.
//
//   candidate_rate [--candidates=48] [--batch=16] [--workers=2] [--builders=2]
//                  [--repeats=500] [--most-seconds=0.15] [--stop-builders]
//                  [--kept-mib=1024] [--seed=1] FILE...
//
// A file holds a workload in text form. Candidates are the default schedule
// with one to three decisions changed that replay, each once; nothing is built
// or known before the clock starts. A batch of a workload is measured, then one
// of the next. With --stop-builders they stop while candidates are executed;
// with --kept-mib=0 nothing is kept of one workload while the next is measured,
// nor anything packed. Prints a row per workload, and the CPU time that each
// part of a candidate's way took.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "base/option_parser.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "bench/measuring/foreign_load.h"
#include "bench/measuring/named_workload.h"
#include "bench/measuring/near_default.h"
#include "bench/measuring/workload_main.h"
#include "measure/parallel/parallel_measurer.h"
#include "measure/record/workload_key.h"
#include "measure/stats/median.h"
#include "measure/worker/pool/process_pool.h"
#include "sketch/replay/replay.h"
#include "sketch/trace/schedule.h"

namespace tilewright::bench {
namespace {

using measure::Measurement;

constexpr int kTriesPerCandidate = 50;

struct Flags {
  int candidates = 48;
  int batch = 16;
  int workers = 2;
  int builders = 2;
  int repeats = 500;
  double most_seconds = 0.15;
  bool stop_builders = false;
  int64_t kept_mib = 1024;
  int64_t seed = 1;
};

// CPU time, ns.
struct Parts {
  int64_t building = 0, loading = 0, references = 0, verifying = 0,
          executing = 0;
  int64_t all() const {
    return building + loading + references + verifying + executing;
  }
};

Parts PartsOf(const measure::Spent& spent) {
  return {spent.building_ns(), spent.loading_ns() + spent.placing_ns(),
          spent.reference_ns(),
          spent.packing_ns() + spent.verifying_ns() + spent.comparing_ns(),
          spent.executing_ns()};
}

// Adds the difference of the two to `sum`.
void AddDifference(const Parts& before, const Parts& after, Parts& sum) {
  sum.building += after.building - before.building;
  sum.loading += after.loading - before.loading;
  sum.references += after.references - before.references;
  sum.verifying += after.verifying - before.verifying;
  sum.executing += after.executing - before.executing;
}

struct Subject {
  std::string name;
  measure::WorkloadKey workload;
  std::vector<sketch::ScheduleProto> schedules;
  std::vector<double> latencies_ns;
  int failed = 0;
  double wall_s = 0;
  Parts parts;
};

absl::StatusOr<Subject> Draw(const std::string& path, const Flags& flags) {
  TW_ASSIGN_OR_RETURN(const NamedWorkload named, ReadWorkload(path));
  const sketch::Schedule& schedule = named.schedule;
  Subject subject;
  subject.name = named.name;
  subject.workload = measure::MakeWorkloadKey(named.workload);
  subject.schedules.push_back(schedule.ToProto());
  std::set<std::string> seen = {schedule.ToString()};
  Random random(static_cast<uint64_t>(flags.seed));
  for (int tries = 0;
       tries < kTriesPerCandidate * flags.candidates &&
       static_cast<int>(subject.schedules.size()) < flags.candidates;
       ++tries) {
    const absl::StatusOr<sketch::Schedule> near =
        NearDefault(named.generator, named.workload, named.spec, random);
    if (!near.ok() || !seen.insert(near->ToString()).second ||
        !sketch::Replay(named.workload, *near).ok()) {
      continue;
    }
    subject.schedules.push_back(near->ToProto());
  }
  return subject;
}

absl::Status MeasureBatch(Subject& subject, size_t begin, size_t size,
                          measure::Measurer& measurer,
                          const measure::ProcessPool& pool) {
  const Parts before = PartsOf(pool.stats().spent);
  const int64_t start_ns = RealClock()->WallNs();
  TW_ASSIGN_OR_RETURN(
      const std::vector<Measurement> measurements,
      measurer.Measure(
          subject.workload,
          absl::MakeConstSpan(subject.schedules).subspan(begin, size)));
  subject.wall_s +=
      static_cast<double>(RealClock()->WallNs() - start_ns) * 1e-9;
  AddDifference(before, PartsOf(pool.stats().spent), subject.parts);
  for (const Measurement& measurement : measurements) {
    if (measurement.outcome() == Measurement::OK) {
      subject.latencies_ns.push_back(measurement.latency().median_ns());
    } else {
      ++subject.failed;
    }
  }
  return absl::OkStatus();
}

void PrintRow(const std::string& name, double median_us, size_t candidates,
              int failed, double wall_s, const Parts& parts) {
  const double count = static_cast<double>(candidates);
  std::printf("| %s | %.1f | %zu | %d | %.2f | %.1f |", name.c_str(), median_us,
              candidates, failed, wall_s, count / wall_s);
  for (const int64_t ns : {parts.building, parts.loading, parts.references,
                           parts.verifying, parts.executing, parts.all()}) {
    std::printf(" %.1f |", static_cast<double>(ns) * 1e-6 / count);
  }
  std::printf("\n");
}

absl::Status Run(const Flags& flags, const std::vector<std::string>& files) {
  std::vector<Subject> subjects;
  for (const std::string& file : files) {
    TW_ASSIGN_OR_RETURN(Subject subject, Draw(file, flags));
    subjects.push_back(std::move(subject));
  }
  measure::ProcessPoolOptions pool_options;
  pool_options.backend = "cpu";
  pool_options.workers = flags.workers;
  pool_options.builders = flags.builders;
  if (flags.stop_builders) pool_options.cores = flags.workers;
  pool_options.kept_bytes = flags.kept_mib << 20;
  TW_ASSIGN_OR_RETURN(const auto pool,
                      measure::ProcessPool::Create(pool_options));
  measure::ParallelMeasurerOptions options =
      measure::ParallelMeasurerOptions::ForCores(flags.workers);
  options.repeats.max_repeats = flags.repeats;
  options.repeats.most_seconds = flags.most_seconds;
  measure::ParallelMeasurer measurer(pool.get(), options);

  const ForeignLoad load;
  const int64_t start_ns = RealClock()->WallNs();
  size_t candidates = 0;
  bool more = true;
  for (size_t begin = 0; more; begin += static_cast<size_t>(flags.batch)) {
    more = false;
    for (Subject& subject : subjects) {
      if (begin >= subject.schedules.size()) continue;
      const size_t size = std::min(static_cast<size_t>(flags.batch),
                                   subject.schedules.size() - begin);
      TW_RETURN_IF_ERROR(MeasureBatch(subject, begin, size, measurer, *pool));
      candidates += size;
      more = true;
    }
  }
  const double wall_s =
      static_cast<double>(RealClock()->WallNs() - start_ns) * 1e-9;

  std::printf(
      "| workload | median us | candidates | failed | wall s | a second | "
      "building ms | loading | references | verifying | executing | all |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  Parts sum;
  int failed = 0;
  for (const Subject& subject : subjects) {
    PrintRow(subject.name,
             subject.latencies_ns.empty()
                 ? 0
                 : measure::Median(subject.latencies_ns) * 1e-3,
             subject.schedules.size(), subject.failed, subject.wall_s,
             subject.parts);
    AddDifference({}, subject.parts, sum);
    failed += subject.failed;
  }
  PrintRow("all", 0, candidates, failed, wall_s, sum);
  std::printf("\nothers had %.0f %% of the cores; %lld workers restarted\n",
              load.Percent(),
              static_cast<long long>(pool->stats().worker_restarts));
  return absl::OkStatus();
}

constexpr char kUsage[] =
    "[--candidates=N] [--batch=N] [--workers=N] [--builders=N] [--repeats=N] "
    "[--most-seconds=S] [--stop-builders] [--kept-mib=N] [--seed=N]";

int Main(int argc, char** argv) {
  Flags flags;
  OptionParser options;
  options.Number("candidates", &flags.candidates, 1);
  options.Number("batch", &flags.batch, 1);
  options.Number("workers", &flags.workers, 1);
  options.Number("builders", &flags.builders, 1);
  options.Number("repeats", &flags.repeats, 1);
  options.Number("most-seconds", &flags.most_seconds, 0.0);
  options.Flag("stop-builders", &flags.stop_builders);
  options.Number("kept-mib", &flags.kept_mib, 0);
  options.Number("seed", &flags.seed, 0);
  return RunOnFiles(
      argc, argv, "candidate_rate", kUsage, options,
      [&](const std::vector<std::string>& files) { return Run(flags, files); });
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) { return tilewright::bench::Main(argc, argv); }
