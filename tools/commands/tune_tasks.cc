#include "tools/commands/tune_tasks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "compiler/kernels/group_workload.h"
#include "compiler/kernels/kernel_maker.h"
#include "costmodel/boosted_trees.h"
#include "costmodel/forest_cost_model.h"
#include "measure/record/workload_key.h"
#include "runtime/format/program.pb.h"
#include "search/annealing.h"
#include "search/contextual_annealing.h"
#include "search/evolution.h"
#include "search/grid_search.h"
#include "search/prior_records.h"
#include "search/random_search.h"
#include "search/replayed_features.h"
#include "sketch/fused/fused_schedule.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/workload.h"

namespace tilewright::tools {
namespace {

constexpr int kLargestBatch = 64, kSmallestBatch = 4;
// A search gets so many rounds of each task, on average.
constexpr int kRoundsOfATask = 4;
constexpr int kTrialsOfATask = 64;
// Models learn anew with so many more candidates.
constexpr double kGrowth = 0.1;
// Members of the population for each candidate that is measured.
constexpr double kMembersOfACandidate = 1.5;
constexpr int kSmallestPopulation = 32;
// The best of other runs that a search begins with.
constexpr size_t kKnownSeeds = 4;

std::unique_ptr<search::Method> MakeMethod(const CommandLine& line, int batch) {
  const std::string name = line.Get("optimizer", "evolution");
  if (name == "annealing")
    return std::make_unique<search::Annealing>(search::AnnealingOptions());
  if (name == "contextual") {
    return std::make_unique<search::ContextualAnnealing>(
        search::ContextualAnnealingOptions());
  }
  if (name == "random") return std::make_unique<search::RandomSearch>();
  if (name == "grid") return std::make_unique<search::GridSearch>();
  search::EvolutionOptions options;
  options.population = std::max(kSmallestPopulation,
                                static_cast<int>(kMembersOfACandidate * batch));
  if (line.Has("crossover")) options.crossover = 0.15;
  return std::make_unique<search::Evolution>(options);
}

// Null: nothing is predicted.
std::unique_ptr<search::ScoreModel> MakeModel(const CommandLine& line) {
  const std::string optimizer = line.Get("optimizer", "evolution");
  const bool is_contextual = optimizer == "contextual";
  const std::string name =
      line.Get("cost-model", is_contextual ? "forest" : "gbt");
  if (name == "random" || optimizer == "random" || optimizer == "grid")
    return nullptr;
  if (name == "forest") {
    costmodel::ForestCostModelOptions options;
    options.forest.trees = 50;
    options.forest.max_features = 55;
    return std::make_unique<search::ScoreModel>(
        std::make_unique<costmodel::ForestCostModel>(options), kGrowth);
  }
  return std::make_unique<search::ScoreModel>(
      std::make_unique<costmodel::BoostedTrees>(
          costmodel::BoostedTreesOptions::Ansor()),
      kGrowth);
}

sketch::Generator FirstGenerator(const GroupWorkload& group) {
  return group.wishes ? sketch::FusedGenerator(*group.wishes)
                      : sketch::Generators(group.workload).front();
}

// Candidates of a round.
int BatchOf(const CommandLine& line, size_t tasks) {
  const auto all = static_cast<int64_t>(tasks);
  const int64_t trials = line.GetInt("trials", kTrialsOfATask * all);
  return static_cast<int>(
      std::clamp<int64_t>(trials / (kRoundsOfATask * std::max<int64_t>(1, all)),
                          kSmallestBatch, kLargestBatch));
}

search::TunerOptions OptionsOf(const CommandLine& line, uint64_t seed,
                               size_t tasks, const Cancellation& cancellation) {
  search::TunerOptions options;
  options.batch = BatchOf(line, tasks);
  options.trials = std::numeric_limits<int>::max();  // the tasks share them
  options.seed = seed;
  options.cancellation = &cancellation;
  return options;
}

// Adds the results of earlier runs.
absl::Status AddKnown(measure::Store& store, const measure::Record& header,
                      TuneTask& task, std::vector<std::string>& notes) {
  TW_ASSIGN_OR_RETURN(
      search::PriorRecords prior,
      search::ReadPriorRecords(store, task.workload, header, *task.space));
  std::stable_sort(prior.trials.begin(), prior.trials.end(),
                   [](const search::Trial& a, const search::Trial& b) {
                     return a.ns < b.ns;
                   });
  task.known = static_cast<int>(prior.trials.size());
  for (size_t i = 0; i < prior.trials.size(); ++i) {
    search::Trial& trial = prior.trials[i];
    if (i < kKnownSeeds && std::isfinite(trial.ns))
      task.tuner->AddSeed(trial.candidate);
    task.tuner->AddKnown(std::move(trial.candidate), trial.ns);
  }
  if (prior.stale > 0) {
    notes.push_back(absl::StrCat(
        task.name, ": ", prior.stale,
        " records whose decisions give another schedule now are passed over"));
  }
  return absl::OkStatus();
}

}  // namespace

uint64_t SeedOfRun(const CommandLine& line) {
  Fingerprinter run;
  run.AddInt(static_cast<uint64_t>(line.GetInt("seed", 0)));
  for (const char* flag : {"optimizer", "cost-model", "scheduler", "trials"})
    run.AddString(line.Get(flag));
  run.AddInt(line.Has("crossover") ? 1 : 0);
  return run.Finish().low;
}

absl::StatusOr<TuneTasks> MakeTuneTasks(
    const CommandLine& line, const CompiledModel& model, const DeviceSpec& spec,
    const measure::Record& header, measure::Store& store,
    measure::Measurer& measurer, const Cancellation& cancellation) {
  TuneTasks all;
  for (size_t i = 0; i < model.kernels.size(); ++i) {
    const CompiledKernel& kernel = model.kernels[i];
    const KernelInfo& info = model.program.kernels(static_cast<int>(i));
    TuneTask task;
    task.name = absl::StrCat(info.name(), ": ", info.label());
    const sketch::Generator generator = FirstGenerator(kernel.workload);
    if (generator.name != kernel.generator) {
      all.notes.push_back(absl::StrCat(
          task.name, " is not tuned: the schedule by rule was refused"));
      continue;
    }
    const sketch::Workload& workload = kernel.workload.workload;
    task.workload = measure::MakeWorkloadKey(workload);
    task.scheduled.weight = static_cast<double>(
        std::count(model.kernel_of_group.begin(), model.kernel_of_group.end(),
                   static_cast<int>(i)));
    task.scheduled.flops = static_cast<double>(CountFlops(workload.graph));
    task.space = std::make_unique<search::TaskSpace>(
        workload, std::vector<sketch::Generator>{generator}, spec,
        search::ReplayedStoreFeatures());
    all.tasks.push_back(std::move(task));
  }
  // Boosted trees learn from all tasks, as Ansor's do; a forest's variances are
  // of one.
  const bool is_shared = line.Get("cost-model", "gbt") != "forest" &&
                         line.Get("optimizer") != "contextual";
  const uint64_t seed = SeedOfRun(line);
  for (size_t i = 0; i < all.tasks.size(); ++i) {
    TuneTask& task = all.tasks[i];
    if (all.models.empty() || !is_shared) all.models.push_back(MakeModel(line));
    const uint64_t task_seed = Fingerprinter()
                                   .AddInt(seed)
                                   .AddString(task.workload.text())
                                   .Finish()
                                   .low;
    task.method = MakeMethod(line, BatchOf(line, all.tasks.size()));
    task.tuner = std::make_unique<search::Tuner>(
        search::Tuner::Parts{*task.space, *task.method, all.models.back().get(),
                             static_cast<int>(i), measurer, task.workload},
        OptionsOf(line, task_seed, all.tasks.size(), cancellation));
    TW_RETURN_IF_ERROR(AddKnown(store, header, task, all.notes));
  }
  return all;
}

}  // namespace tilewright::tools
