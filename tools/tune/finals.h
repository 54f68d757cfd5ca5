// The end of a search: the best candidates of each task are compared with the
// rules' own, interleaved, and those that are better with them in the whole
// model. All comparisons are recorded: compiling chooses by them
// (compiler/records/record_choice.h).
#ifndef TILEWRIGHT_TOOLS_TUNE_FINALS_H_
#define TILEWRIGHT_TOOLS_TUNE_FINALS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "base/cancellation.h"
#include "compiler/records/record_source.h"
#include "measure/parallel/measurer.h"
#include "measure/record/record.pb.h"
#include "measure/stats/paired_ratio.h"
#include "search/model_evaluator.h"
#include "search/rank_in_model.h"
#include "search/recorded_measurer.h"
#include "tools/tune/model_runs.h"
#include "tools/tune/model_tasks.h"

namespace tilewright::tools {

// A decision that a winner takes otherwise than the rules.
struct ChangedDecision {
  std::string name, rules, winner;  // empty: not asked for there
  // Times with it given back to the rules, relative to the winner's: 1.1 says
  // that it gains 10 %. 0 rounds: not measured.
  measure::PairedRatio gain;
};

// The winner of a task, as far as there is one.
struct Final {
  measure::PairedRatio ratio;  // winner to rules, one thread; 0 rounds: none
  bool is_winner = false;      // alone
  bool stays = false;          // in the model, too
  std::vector<ChangedDecision> changes;
};

// A final's ratio to the rules' own schedule, which is one itself, and how it
// was verified.
struct ComparedFinal {
  measure::PairedRatio ratio;
  measure::Verification verification;
};
using ComparedFinals = std::map<std::string, ComparedFinal>;  // by schedule

// Compares the best of a task, if any seems faster than the rules' own, round
// by round. `verified`: what another comparison of the task has found, where
// this one does not verify. Adds to `failures` what was wrong with finals.
// Errors of the measurer and of the store.
absl::StatusOr<ComparedFinals> CompareBest(const ModelTask& task,
                                           measure::Measurer& measurer,
                                           const ComparedFinals* verified,
                                           search::RecordedMeasurer& records,
                                           const Cancellation& cancellation,
                                           std::vector<std::string>& failures);

// The schedules compiling would take of the records now, by task; those without
// a winner have no source.
absl::StatusOr<std::vector<TaskWinner>> ChooseWinners(
    const std::vector<ModelTask>& tasks, const DeviceSpec& spec,
    RecordSource& source);

// Ranks the winners in the model and records what was found of each. `model`:
// its fingerprint; `timer`: of its runs with one thread; the tasks by their
// share of the model's time.
absl::StatusOr<search::ModelRanking> RankWinners(
    const std::vector<ModelTask>& tasks, const std::vector<TaskWinner>& winners,
    const std::string& model, measure::Method::Timer timer,
    const std::vector<int>& threads, search::ModelEvaluator& evaluator,
    search::RecordedMeasurer& records);

// Which decisions of a winner are not the rules', and what each gains: the
// winner beside itself with one of them given back.
absl::StatusOr<std::vector<ChangedDecision>> ExplainWinner(
    const ModelTask& task, const TaskWinner& winner,
    measure::Measurer& measurer, const Cancellation& cancellation);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_TUNE_FINALS_H_
