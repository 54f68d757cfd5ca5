#include "tools/tune/tune_model.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/spec/spec_fingerprint.h"
#include "base/clock.h"
#include "base/parallel_for.h"
#include "base/status_macros.h"
#include "compiler/kernels/version.h"
#include "compiler/records/record_source.h"
#include "measure/record/record.pb.h"
#include "search/recorded_measurer.h"
#include "search/task_scheduler.h"
#include "search/tune_tasks.h"
#include "search/tuner.h"
#include "tools/tune/finals.h"
#include "tools/tune/measuring.h"
#include "tools/tune/model_runs.h"
#include "tools/tune/model_tasks.h"
#include "tools/tune/tune_report.h"
#include "tools/tune/tuned_device.h"

namespace tilewright::tools {
namespace {

// So many winners are explained, those that save most.
constexpr size_t kMostExplained = 12;

measure::Record HeaderOf(const TuneOptions& options, const DeviceSpec& spec,
                         measure::Method::Timer timer,
                         measure::Method::Cache cache) {
  measure::Record header;
  header.mutable_device()->set_spec(spec.name());
  header.mutable_device()->set_structure_fingerprint(
      StructureFingerprint(spec).ToString());
  header.mutable_versions()->set_code_generation(kCodeGeneration);
  measure::Method& method = *header.mutable_measurement()->mutable_method();
  method.set_timer(timer);
  method.set_cache(cache);
  method.set_threads(1);
  header.set_seed(SeedOfRun(options));
  return header;
}

// The host's, that candidates or their builders may use.
int CoresFor(const TunedDevice& device, const DeviceSpec& spec) {
  return device.is_gpu ? UsableCpus()
                       : std::max(1, static_cast<int>(spec.unit().cores()));
}

class Run {
 public:
  Run(const TuneJob& job, const TuneOptions& options)
      : job_(job),
        options_(options),
        spec_(job.codegen.spec()),
        cores_(CoresFor(job.device, spec_)),
        threads_(job.device.is_gpu ? 1 : cores_) {}

  absl::StatusOr<std::string> Tune();

 private:
  bool cancelled() const { return job_.cancellation.cancelled(); }
  absl::Status Search();
  // With one thread and with the most that a kernel has.
  absl::Status Compare();
  absl::Status RankInModel();
  absl::Status Explain();
  absl::StatusOr<std::vector<TaskWinner>> Winners();

  const TuneJob& job_;
  const TuneOptions& options_;
  const DeviceSpec spec_;
  const int cores_;
  const int threads_;     // the most that a kernel has
  MeasuringOptions how_;  // with one thread
  measure::Record header_;
  Measuring measuring_, comparing_;
  std::unique_ptr<search::RecordedMeasurer> recorded_;
  ModelTasks all_;
  std::unique_ptr<TuneReport> report_;
  std::vector<ComparedFinals> compared_;  // by task, one thread
  std::vector<Final> finals_;             // by task
};

absl::Status Run::Search() {
  search::TuneTasksOptions how;
  how.trials = TrialsOf(options_, all_.tasks.size());
  how.seconds = options_.seconds;
  how.first_trials = 1;
  how.cancellation = &job_.cancellation;
  how.scheduler.seed = header_.seed();
  if (options_.scheduler == "roundrobin") {
    how.scheduler.strategy =
        search::TaskSchedulerOptions::Strategy::kRoundRobin;
  }
  std::vector<search::Tuner*> tuners;
  std::vector<search::ScheduledTask> scheduled;
  for (const ModelTask& task : all_.tasks) {
    tuners.push_back(task.tuner.get());
    scheduled.push_back(task.scheduled);
  }
  return search::TuneTasks(
      tuners, scheduled, how,
      [&](const search::RoundOfTask& round) { return report_->Round(round); });
}

absl::StatusOr<std::vector<TaskWinner>> Run::Winners() {
  RecordSource source(job_.store, job_.store_name);
  return ChooseWinners(all_.tasks, spec_, source);
}

absl::Status Run::Compare() {
  std::vector<std::string> failures;
  report_->Progress("comparing the best of each kernel with the rules' own");
  MeasuringOptions how = how_;
  how.verify = true;
  TW_ASSIGN_OR_RETURN(comparing_, StartComparing(how));
  for (size_t i = 0; i < all_.tasks.size() && !cancelled(); ++i) {
    TW_ASSIGN_OR_RETURN(compared_[i],
                        CompareBest(all_.tasks[i], *comparing_.measurer,
                                    /*verified=*/nullptr, *recorded_,
                                    job_.cancellation, failures));
  }
  for (const std::string& failure : failures) report_->Progress(failure);
  if (threads_ < 2 || cancelled()) return absl::OkStatus();
  how.threads = threads_;
  how.verify = false;
  TW_ASSIGN_OR_RETURN(const Measuring all_cores, StartComparing(how));
  for (size_t i = 0; i < all_.tasks.size() && !cancelled(); ++i) {
    if (compared_[i].size() < 2) continue;
    TW_RETURN_IF_ERROR(CompareBest(all_.tasks[i], *all_cores.measurer,
                                   &compared_[i], *recorded_, job_.cancellation,
                                   failures)
                           .status());
  }
  return absl::OkStatus();
}

absl::Status Run::RankInModel() {
  TW_ASSIGN_OR_RETURN(std::vector<TaskWinner> winners, Winners());
  size_t count = 0;
  for (size_t i = 0; i < winners.size(); ++i) {
    if (winners[i].schedule.source.empty()) continue;
    ++count;
    finals_[i].is_winner = finals_[i].stays = true;
    const auto found =
        compared_[i].find(winners[i].schedule.schedule.ToString());
    if (found != compared_[i].end()) finals_[i].ratio = found->second.ratio;
  }
  if (count == 0 || cancelled()) return absl::OkStatus();
  report_->Progress(absl::StrCat("running the model with ", count,
                                 " winners and by rule, in turn"));
  ModelRuns runs(job_.model, job_.codegen, job_.options, job_.device, winners,
                 job_.cancellation);
  std::vector<int> threads = {1};
  if (threads_ > 1) threads.push_back(threads_);
  const absl::StatusOr<search::ModelRanking> ranking =
      RankWinners(all_.tasks, winners, ModelFingerprint(job_.model),
                  job_.device.model_timer, threads, runs, *recorded_);
  if (!ranking.ok()) return cancelled() ? absl::OkStatus() : ranking.status();
  for (const search::ModelComparison& one : ranking->comparisons)
    TW_RETURN_IF_ERROR(report_->Model(one));
  for (size_t i = 0; i < finals_.size(); ++i)
    finals_[i].stays = finals_[i].stays && ranking->kept[i];
  return absl::OkStatus();
}

absl::Status Run::Explain() {
  TW_ASSIGN_OR_RETURN(const std::vector<TaskWinner> winners, Winners());
  std::vector<std::pair<double, size_t>> saved;
  for (size_t i = 0; i < winners.size(); ++i) {
    if (winners[i].schedule.source.empty()) continue;
    const search::TunerReport report = all_.tasks[i].tuner->report();
    saved.emplace_back(
        all_.tasks[i].scheduled.weight * (report.rules_ns - report.best_ns), i);
  }
  std::sort(saved.rbegin(), saved.rend());
  saved.resize(std::min(saved.size(), kMostExplained));
  for (const auto& [ns, i] : saved) {
    if (cancelled()) return absl::OkStatus();
    TW_ASSIGN_OR_RETURN(finals_[i].changes,
                        ExplainWinner(all_.tasks[i], winners[i],
                                      *comparing_.measurer, job_.cancellation));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Run::Tune() {
  TW_ASSIGN_OR_RETURN(const CompiledModel model,
                      Compile(job_.model, job_.codegen, job_.options));
  how_.device = job_.device;
  how_.cores = cores_;
  how_.cache = CacheOf(model, spec_);
  how_.verify = options_.keep_bits;
  header_ = HeaderOf(options_, spec_, job_.device.kernel_timer, how_.cache);
  measure::Measurer* measurer = nullptr;
  if (job_.measurer) {
    TW_ASSIGN_OR_RETURN(measurer, job_.measurer(how_.cache));
  } else {
    TW_ASSIGN_OR_RETURN(measuring_, StartMeasuring(how_));
    measurer = measuring_.measurer.get();
  }
  recorded_ = std::make_unique<search::RecordedMeasurer>(*measurer, job_.store,
                                                         header_, *RealClock());
  TW_ASSIGN_OR_RETURN(
      all_, MakeModelTasks(options_, model, spec_, header_, job_.store,
                           *recorded_, job_.cancellation));
  for (const std::string& note : all_.notes)
    std::fprintf(stderr, "tilewright: note: %s\n", note.c_str());
  compared_.resize(all_.tasks.size());
  finals_.resize(all_.tasks.size());
  report_ = std::make_unique<TuneReport>(
      TuneReportOptions{job_.title, job_.json, job_.trace,
                        TrialsOf(options_, all_.tasks.size()), options_.seconds,
                        [this] {
                          return measuring_.pool == nullptr
                                     ? measure::PoolStats()
                                     : measuring_.pool->stats();
                        }},
      all_.tasks);
  TW_RETURN_IF_ERROR(report_->Open(options_));
  TW_RETURN_IF_ERROR(Search());
  if (!cancelled()) TW_RETURN_IF_ERROR(Compare());
  if (!cancelled()) TW_RETURN_IF_ERROR(RankInModel());
  if (!cancelled()) TW_RETURN_IF_ERROR(Explain());
  TW_RETURN_IF_ERROR(report_->Finals(finals_));
  if (recorded_->replayed() > 0) {
    std::fprintf(stderr,
                 "tune: %d results were in %s already: the same run before\n",
                 recorded_->replayed(), job_.store_name.c_str());
  }
  if (cancelled()) {
    std::fprintf(stderr,
                 "tune: interrupted; %s has all that was measured: the same "
                 "command goes on\n",
                 job_.store_name.c_str());
  }
  return report_->Summary(finals_, job_.json);
}

}  // namespace

absl::StatusOr<std::string> TuneModel(const TuneJob& job,
                                      const TuneOptions& options) {
  return Run(job, options).Tune();
}

}  // namespace tilewright::tools
