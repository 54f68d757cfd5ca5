#include "tools/tune/model_tasks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "compiler/kernels/group_workload.h"
#include "compiler/kernels/kernel_maker.h"
#include "costmodel/boosted_trees.h"
#include "costmodel/forest_cost_model.h"
#include "measure/record/workload_key.h"
#include "search/annealing.h"
#include "search/contextual_annealing.h"
#include "search/evolution.h"
#include "search/grid_search.h"
#include "search/prior_records.h"
#include "search/random_search.h"
#include "search/replayed_features.h"
#include "sketch/derivation/sketch_generator.h"
#include "sketch/derivation/sketch_rules.h"
#include "sketch/templates/templates.h"
#include "sketch/trace/workload.h"
#include "tilegraph/gpu/hardware/gpu_levels.h"
#include "tools/profile/limits.h"
#include "tools/profile/roofline.h"

namespace tilewright::tools {
namespace {

constexpr int kLargestBatch = 64, kSmallestBatch = 4;
// A search gets so many rounds of each task, on average.
constexpr int kRoundsOfATask = 4;
constexpr int kTrialsOfATask = 64;
// Models learn anew with so many more candidates.
constexpr double kGrowth = 0.1;
// Evolution has so many members for a candidate that is measured.
constexpr double kMembersOfACandidate = 1.5;
constexpr int kSmallestPopulation = 32;
// So many of the best of other runs a search begins with.
constexpr size_t kKnownSeeds = 4;
// So many results of other kernels the cost model begins with.
constexpr int kMostOfOthers = 512;
// Ansor's trees boost until their error on what they learn from does not fall
// for 50 trees, which is after a thousand: seconds for batches that are
// measured in one. So many order candidates as well (docs/search.md).
constexpr int kMostTrees = 60;

bool PredictsNothing(const TuneOptions& options) {
  return options.cost_model == "random" || options.optimizer == "random" ||
         options.optimizer == "grid";
}

// Forests tell variances, each of one task; boosted trees learn from all tasks,
// as Ansor's do.
bool UsesForest(const TuneOptions& options) {
  return options.optimizer == "contextual" || options.cost_model == "forest";
}

// Candidates of a round.
int BatchOf(const TuneOptions& options, size_t tasks) {
  const auto all = static_cast<int>(std::max<size_t>(1, tasks));
  return std::clamp(TrialsOf(options, tasks) / (kRoundsOfATask * all),
                    kSmallestBatch, kLargestBatch);
}

std::unique_ptr<search::Method> MakeMethod(const TuneOptions& options,
                                           int batch) {
  if (options.optimizer == "annealing")
    return std::make_unique<search::Annealing>(search::AnnealingOptions());
  if (options.optimizer == "contextual") {
    return std::make_unique<search::ContextualAnnealing>(
        search::ContextualAnnealingOptions());
  }
  if (options.optimizer == "random")
    return std::make_unique<search::RandomSearch>();
  if (options.optimizer == "grid")
    return std::make_unique<search::GridSearch>();
  search::EvolutionOptions evolution;
  evolution.population = std::max(
      kSmallestPopulation, static_cast<int>(kMembersOfACandidate * batch));
  if (options.crossover) evolution.crossover = 0.15;
  return std::make_unique<search::Evolution>(evolution);
}

// Null: nothing is predicted.
std::unique_ptr<search::ScoreModel> MakeModel(const TuneOptions& options) {
  if (PredictsNothing(options)) return nullptr;
  if (UsesForest(options)) {
    costmodel::ForestCostModelOptions forest;
    forest.forest.trees = 50;
    forest.forest.max_features = 55;
    return std::make_unique<search::ScoreModel>(
        std::make_unique<costmodel::ForestCostModel>(forest), kGrowth);
  }
  costmodel::BoostedTreesOptions trees =
      costmodel::BoostedTreesOptions::Ansor();
  trees.max_rounds = kMostTrees;
  return std::make_unique<search::ScoreModel>(
      std::make_unique<costmodel::BoostedTrees>(trees), kGrowth);
}

// "s1.tile", "task.rows": what a plan's tiles decide.
bool IsOfTiles(const std::string& decision) {
  const std::vector<std::string> parts = absl::StrSplit(decision, '.');
  return std::any_of(parts.begin(), parts.end(), [](const std::string& part) {
    return part == "tile" || part == "task";
  });
}

// The rules' decisions that never change a bit, whatever their answers.
std::function<bool(const std::string&)> DecisionsThatKeepBits(
    const sketch::Generator& rules, const sketch::Workload& workload,
    const DeviceSpec& spec) {
  std::set<std::string> names;
  PreferredPolicy preferred;
  Decider decider(preferred);
  if (sketch::Generate(rules, workload, spec, decider).ok()) {
    for (const Decision& decision : decider.decisions()) {
      if (decision.bits == Bits::kSame) names.insert(decision.name);
    }
  }
  return [names](const std::string& name) { return names.count(name) > 0; };
}

std::unique_ptr<search::TaskSpace> MakeSpace(const TuneOptions& options,
                                             const ModelTask& task,
                                             const sketch::Workload& workload,
                                             const DeviceSpec& spec) {
  std::vector<sketch::Generator> generators = {task.rules};
  search::SpaceOptions how;
  if (options.policy == "template")
    generators.push_back(sketch::TemplateGenerator());
  if (options.policy == "sketch")
    generators.push_back(sketch::SketchGenerator(sketch::ExtendedRules()));
  how.first_searched = generators.size() - 1;
  if (options.policy == "tilegraph") {
    how.is_searched = IsOfTiles;
  } else if (options.policy == "rules" && options.keep_bits) {
    how.is_searched = DecisionsThatKeepBits(task.rules, workload, spec);
  }
  return std::make_unique<search::TaskSpace>(
      workload, std::move(generators), spec, search::ReplayedStoreFeatures(),
      std::move(how));
}

// Adds the candidates of earlier runs.
absl::Status AddKnown(measure::Store& store, const measure::Record& header,
                      ModelTask& task, std::vector<std::string>& notes) {
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

// The model that all tasks share begins with what was measured of other
// models'.
absl::Status LearnFromOthers(const TuneOptions& options, measure::Store& store,
                             const measure::Record& header, ModelTasks& all) {
  if (all.models.empty() || all.models[0] == nullptr || UsesForest(options))
    return absl::OkStatus();
  std::set<std::string> own;
  for (const ModelTask& task : all.tasks) own.insert(task.workload.text());
  TW_ASSIGN_OR_RETURN(
      const int learned,
      search::LearnFromOtherTasks(
          store, own, header, search::ReplayedStoreFeatures(), kMostOfOthers,
          static_cast<int>(all.tasks.size()), *all.models[0]));
  if (learned > 0) {
    all.notes.push_back(absl::StrCat("the cost model begins with ", learned,
                                     " results of other kernels"));
  }
  return absl::OkStatus();
}

// The least time that one core may need for a launch of the kernel. Its data
// are in caches when it is measured alone, in part in nearer ones than hold all
// of them: half the time of moving them counts.
// 0, which says nothing, for GPUs.
double LeastSeconds(const Program& program, int kernel,
                    const DeviceSpec& spec) {
  if (GpuLevelsOf(spec)) return 0;
  constexpr double kShareOfMoving = 0.5;
  const Limits limits = LimitsOfSpec(spec, /*threads=*/1);
  for (int step = 0; step < program.steps_size(); ++step) {
    if (!program.steps(step).has_launch() ||
        program.steps(step).launch().kernel() != kernel)
      continue;
    Work work = WorkOfStep(program, step);
    work.constant_bytes = 0;
    work.bytes *= kShareOfMoving;
    return 1e-6 * BoundOf(work, ResidentBytes(program), limits).us;
  }
  return 0;
}

// All but what searches; nullopt with a note: it is not tuned.
std::optional<ModelTask> MakeTask(const CompiledModel& model, size_t index,
                                  const DeviceSpec& spec,
                                  std::vector<std::string>& notes) {
  const CompiledKernel& kernel = model.kernels[index];
  const auto number = static_cast<int>(index);
  const KernelInfo& info = model.program.kernels(number);
  ModelTask task;
  task.name = absl::StrCat(info.name(), ": ", info.label());
  task.kernel = index;
  task.rules = GeneratorsOf(kernel.workload, spec).front();
  if (task.rules.name != kernel.generator) {
    notes.push_back(absl::StrCat(
        task.name, " is not tuned: the schedule by rule was refused"));
    return std::nullopt;
  }
  const sketch::Workload& workload = kernel.workload.workload;
  task.workload = measure::MakeWorkloadKey(workload);
  task.scheduled.weight = static_cast<double>(std::count(
      model.kernel_of_group.begin(), model.kernel_of_group.end(), number));
  task.scheduled.flops = static_cast<double>(CountFlops(workload.graph));
  task.scheduled.least_seconds = LeastSeconds(model.program, number, spec);
  return task;
}

}  // namespace

int TrialsOf(const TuneOptions& options, size_t tasks) {
  const int64_t trials = options.trials > 0
                             ? options.trials
                             : kTrialsOfATask * static_cast<int64_t>(tasks);
  return static_cast<int>(
      std::min<int64_t>(trials, std::numeric_limits<int>::max()));
}

absl::StatusOr<ModelTasks> MakeModelTasks(const TuneOptions& options,
                                          const CompiledModel& model,
                                          const DeviceSpec& spec,
                                          const measure::Record& header,
                                          measure::Store& store,
                                          measure::Measurer& measurer,
                                          const Cancellation& cancellation) {
  ModelTasks all;
  for (size_t i = 0; i < model.kernels.size(); ++i) {
    std::optional<ModelTask> task = MakeTask(model, i, spec, all.notes);
    if (!task) continue;
    task->space =
        MakeSpace(options, *task, model.kernels[i].workload.workload, spec);
    all.tasks.push_back(*std::move(task));
  }
  const uint64_t seed = SeedOfRun(options);
  search::TunerOptions how;
  how.batch = BatchOf(options, all.tasks.size());
  how.trials = std::numeric_limits<int>::max();  // the tasks share them
  how.keep_bits = options.keep_bits;
  how.cancellation = &cancellation;
  for (size_t i = 0; i < all.tasks.size(); ++i) {
    ModelTask& task = all.tasks[i];
    if (all.models.empty() || UsesForest(options))
      all.models.push_back(MakeModel(options));
    how.seed = Fingerprinter()
                   .AddInt(seed)
                   .AddString(task.workload.text())
                   .Finish()
                   .low;
    task.method = MakeMethod(options, how.batch);
    task.tuner = std::make_unique<search::Tuner>(
        search::Tuner::Parts{*task.space, *task.method, all.models.back().get(),
                             static_cast<int>(i), measurer, task.workload},
        how);
    if (options.keep_bits) continue;
    TW_RETURN_IF_ERROR(AddKnown(store, header, task, all.notes));
  }
  TW_RETURN_IF_ERROR(LearnFromOthers(options, store, header, all));
  return all;
}

}  // namespace tilewright::tools
