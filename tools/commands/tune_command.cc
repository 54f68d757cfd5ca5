// tilewright tune MODEL.onnx --records=DB
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/codegen.h"
#include "backends/spec/device_spec.pb.h"
#include "backends/spec/spec_fingerprint.h"
#include "base/cancellation.h"
#include "base/clock.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "compiler/compile.h"
#include "compiler/kernels/version.h"
#include "frontends/onnx/import_model.h"
#include "measure/parallel/measurer.h"
#include "measure/parallel/parallel_measurer.h"
#include "measure/parallel/parallel_measurer_options.h"
#include "measure/parallel/worker_pool.h"
#include "measure/record/record.pb.h"
#include "measure/record/store.h"
#include "measure/stats/rank_selection.h"
#include "measure/worker/process_pool.h"
#include "search/recorded_measurer.h"
#include "search/task_scheduler.h"
#include "search/tune_tasks.h"
#include "search/tuner.h"
#include "sketch/trace/schedule.pb.h"
#include "tools/commands/commands.h"
#include "tools/commands/fusion_measuring.h"
#include "tools/commands/model_source.h"
#include "tools/commands/tune_report.h"
#include "tools/commands/tune_tasks.h"
#include "tools/commands/usage.h"

namespace tilewright::tools {
namespace {

constexpr int kMostWorkers = 6;
constexpr int kTrialsOfATask = 64;

// Set by Ctrl-C: running work ends, and all that was measured is in the store.
Cancellation g_interrupted;
void OnInterrupt(int) { g_interrupted.Cancel(); }

class InterruptHandler {
 public:
  InterruptHandler() {
    struct sigaction action = {};
    action.sa_handler = OnInterrupt;
    action.sa_flags = SA_RESETHAND;  // a second one ends the process
    sigaction(SIGINT, &action, &before_);
  }
  ~InterruptHandler() { sigaction(SIGINT, &before_, nullptr); }
  InterruptHandler(const InterruptHandler&) = delete;
  InterruptHandler& operator=(const InterruptHandler&) = delete;

 private:
  struct sigaction before_ = {};
};

measure::Record HeaderOf(const CommandLine& line, const DeviceSpec& spec) {
  measure::Record header;
  header.mutable_device()->set_spec(spec.name());
  header.mutable_device()->set_structure_fingerprint(
      StructureFingerprint(spec).ToString());
  header.mutable_versions()->set_code_generation(kCodeGeneration);
  measure::Method& method = *header.mutable_measurement()->mutable_method();
  method.set_timer(measure::Method::THREAD_CPU_TIME);
  method.set_cache(measure::Method::WARM);
  method.set_threads(1);
  header.set_seed(SeedOfRun(line));
  return header;
}

// Processes of this binary, and who measures with them: candidates of so many
// threads, several at a time if that is one.
struct Measuring {
  std::unique_ptr<measure::WorkerPool> pool;
  std::unique_ptr<measure::Measurer> measurer;
};

absl::StatusOr<Measuring> StartMeasuring(int cores, int threads) {
  const int workers = threads > 1 ? 1 : std::clamp(cores, 1, kMostWorkers);
  measure::ProcessPoolOptions options;
  options.backend = "cpu";
  options.workers = workers;
  options.builders = std::clamp(cores, 1, kMostWorkers);
  options.cores = cores;
  options.method.set_threads(threads);
  options.method.set_cache(measure::Method::WARM);
  Measuring measuring;
  TW_ASSIGN_OR_RETURN(measuring.pool, measure::ProcessPool::Create(options));
  measuring.measurer = std::make_unique<measure::ParallelMeasurer>(
      measuring.pool.get(),
      measure::ParallelMeasurerOptions::ForCores(workers));
  return measuring;
}

// The best of a task and the rules' own candidate, measured alone: what a
// record of the winner is compared with (compiler/records/record_choice.h).
absl::Status MeasureFinals(const TuneTask& task, measure::Measurer& measurer) {
  const search::Trial* const rules = task.tuner->rules();
  if (rules == nullptr) return absl::OkStatus();
  const std::vector<search::Trial>& trials = task.tuner->trials();
  std::vector<double> ns;
  for (const search::Trial& trial : trials) ns.push_back(trial.ns);
  std::vector<sketch::ScheduleProto> finals = {
      rules->candidate.schedule.ToProto()};
  for (const int i : measure::SelectTopRanks(ns)) {
    const search::Trial& trial = trials[static_cast<size_t>(i)];
    if (&trial != rules) finals.push_back(trial.candidate.schedule.ToProto());
  }
  if (finals.size() < 2) return absl::OkStatus();
  measure::MeasureOptions how;
  how.cancellation = &g_interrupted;
  return measurer.MeasureAlone(task.workload, finals, how).status();
}

absl::Status MeasureAllFinals(const std::vector<TuneTask>& tasks,
                              const measure::Record& header,
                              measure::Store& store, int cores,
                              measure::Measurer& one_thread) {
  for (const TuneTask& task : tasks)
    TW_RETURN_IF_ERROR(MeasureFinals(task, one_thread));
  if (cores < 2 || g_interrupted.cancelled()) return absl::OkStatus();
  TW_ASSIGN_OR_RETURN(const Measuring measuring,
                      StartMeasuring(cores, /*threads=*/cores));
  search::RecordedMeasurer recorded(*measuring.measurer, store, header,
                                    *RealClock());
  for (const TuneTask& task : tasks)
    TW_RETURN_IF_ERROR(MeasureFinals(task, recorded));
  return absl::OkStatus();
}

absl::Status Tune(const CommandLine& line, const CompiledModel& model,
                  const DeviceSpec& spec, measure::Store& store) {
  const int cores = std::max(1, static_cast<int>(spec.unit().cores()));
  TW_ASSIGN_OR_RETURN(const Measuring measuring,
                      StartMeasuring(cores, /*threads=*/1));
  const measure::Record header = HeaderOf(line, spec);
  search::RecordedMeasurer recorded(*measuring.measurer, store, header,
                                    *RealClock());
  TW_ASSIGN_OR_RETURN(
      TuneTasks all,
      MakeTuneTasks(line, model, spec, header, store, recorded, g_interrupted));
  for (const std::string& note : all.notes)
    std::fprintf(stderr, "tilewright: note: %s\n", note.c_str());
  search::TuneTasksOptions options;
  options.trials = static_cast<int>(line.GetInt(
      "trials", static_cast<int64_t>(kTrialsOfATask * all.tasks.size())));
  options.seconds =
      line.GetDouble("time", std::numeric_limits<double>::infinity());
  options.cancellation = &g_interrupted;
  options.scheduler.seed = header.seed();
  if (line.Get("scheduler") == "roundrobin") {
    options.scheduler.strategy =
        search::TaskSchedulerOptions::Strategy::kRoundRobin;
  }
  std::vector<search::Tuner*> tuners;
  std::vector<search::ScheduledTask> scheduled;
  for (const TuneTask& task : all.tasks) {
    tuners.push_back(task.tuner.get());
    scheduled.push_back(task.scheduled);
  }
  TuneReport report(line, all.tasks, options.trials, options.seconds);
  TW_RETURN_IF_ERROR(report.Open());
  const InterruptHandler handler;
  TW_RETURN_IF_ERROR(search::TuneTasks(
      tuners, scheduled, options,
      [&](const search::RoundOfTask& round) { return report.Round(round); }));
  TW_RETURN_IF_ERROR(
      MeasureAllFinals(all.tasks, header, store, cores, recorded));
  std::fputs(report.Summary().c_str(), stdout);
  if (recorded.replayed() > 0) {
    std::fprintf(stderr,
                 "tune: %d results were in %s already: the same run before\n",
                 recorded.replayed(), line.Get("records").c_str());
  }
  if (g_interrupted.cancelled()) {
    std::fprintf(stderr,
                 "tune: interrupted; %s has all that was measured: the same "
                 "command goes on\n",
                 line.Get("records").c_str());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status TuneCommand(const CommandLine& line) {
  TW_ASSIGN_OR_RETURN(const std::string path, OnlyModel(line));
  if (!line.Has("records"))
    return Usage("'tune' needs --records=DB, where it keeps what it measures");
  if (!absl::EndsWith(path, ".onnx"))
    return Usage(absl::StrCat(path, ": 'tune' takes an .onnx file"));
  TW_ASSIGN_OR_RETURN(CompileOptions options, CompileOptionsFrom(line));
  TW_ASSIGN_OR_RETURN(const ImportOptions import, ImportOptionsFrom(line));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<backends::Codegen> codegen,
                      CodegenFrom(line));
  const absl::StatusOr<ImportedModel> imported = ImportModel(path, import);
  if (!imported.ok()) {
    return absl::Status(imported.status().code(),
                        absl::StrCat(path, ": ", imported.status().message()));
  }
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<measure::Store> store,
                      measure::Store::Open(UserPath(line.Get("records"))));
  TW_ASSIGN_OR_RETURN(const DeviceSpec machine, SpecFrom(line));
  // Fused as the records say, as 'compile' does; schedules are the rules'.
  TW_ASSIGN_OR_RETURN(
      const std::unique_ptr<FusionMeasuring> fusions,
      FusionMeasuring::From(line, machine, codegen->spec(), options));
  TW_ASSIGN_OR_RETURN(const CompiledModel model,
                      Compile(*imported, *codegen, options));
  return Tune(line, model, codegen->spec(), *store);
}

}  // namespace tilewright::tools
