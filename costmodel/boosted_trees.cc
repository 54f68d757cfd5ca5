#include "costmodel/boosted_trees.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "costmodel/boosting_loss.h"
#include "costmodel/saved_model.h"
#include "costmodel/saved_model.pb.h"
#include "costmodel/xgboost_handles.h"

namespace tilewright::costmodel {
namespace {

constexpr std::string_view kKind = "boosted trees";
constexpr int kVersion = 1;

using Loss = BoostedTreesOptions::Loss;
using StopBy = BoostedTreesOptions::StopBy;

std::vector<std::pair<std::string, std::string>> ParametersOf(
    const BoostedTreesOptions& options) {
  return {{"verbosity", "0"},
          {"objective", "reg:squarederror"},  // its derivatives are not used
          {"base_score", "0"},
          {"tree_method", "hist"},
          {"max_depth", absl::StrCat(options.max_depth)},
          {"gamma", absl::StrCat(options.gamma)},
          {"min_child_weight", absl::StrCat(options.min_child_weight)},
          {"eta", absl::StrCat(options.eta)},
          {"lambda", absl::StrCat(options.lambda)},
          {"alpha", absl::StrCat(options.alpha)},
          {"subsample", absl::StrCat(options.subsample)},
          {"seed", absl::StrCat(options.seed)},
          {"nthread", absl::StrCat(options.threads)}};
}

// A candidate's prior stands at the first of its rows.
absl::StatusOr<XgboostMatrix> MatrixOf(const CandidateFeatures& candidates,
                                       int threads) {
  std::vector<float> margins;
  margins.reserve(candidates.rows.rows());
  for (int i = 0; i < candidates.size(); ++i) {
    margins.push_back(static_cast<float>(candidates.prior(i)));
    margins.resize(margins.size() + candidates.row_count(i) - 1);
  }
  return XgboostMatrix::Create(candidates.rows, margins, threads);
}

// The sums of the candidates' rows.
std::vector<double> SumRows(const CandidateFeatures& candidates,
                            const std::vector<double>& of_rows) {
  std::vector<double> sums(candidates.size());
  size_t row = 0;
  for (int i = 0; i < candidates.size(); ++i) {
    for (int k = 0; k < candidates.row_count(i); ++k) sums[i] += of_rows[row++];
  }
  return sums;
}

std::vector<std::vector<int>> CandidatesOfTasks(
    const MeasuredCandidates& measured) {
  std::map<int, std::vector<int>> by_task;
  for (int i = 0; i < measured.candidates.size(); ++i) {
    by_task[measured.task(i)].push_back(i);
  }
  std::vector<std::vector<int>> tasks;
  for (auto& [task, members] : by_task) tasks.push_back(std::move(members));
  return tasks;
}

std::vector<double> Select(const std::vector<double>& values,
                           const std::vector<int>& places) {
  std::vector<double> selected;
  selected.reserve(places.size());
  for (const int place : places) selected.push_back(values[place]);
  return selected;
}

// One fit: adds trees until they improve nothing.
class Fitting {
 public:
  Fitting(const BoostedTreesOptions& options,
          const MeasuredCandidates& measured)
      : options_(options),
        measured_(measured),
        tasks_(CandidatesOfTasks(measured)) {}

  absl::StatusOr<XgboostModel> Run() {
    TW_ASSIGN_OR_RETURN(const XgboostMatrix training,
                        MatrixOf(measured_.candidates, options_.threads));
    TW_ASSIGN_OR_RETURN(XgboostModel model,
                        XgboostModel::Create(training, ParametersOf(options_)));
    std::vector<double> predicted(measured_.candidates.size());
    for (size_t i = 0; i < predicted.size(); ++i) {
      predicted[i] = measured_.candidates.prior(static_cast<int>(i));
    }
    double best_error = Error(predicted);
    int best_rounds = 0;
    int round = 0;
    while (round < options_.max_rounds &&
           round - best_rounds < options_.patience) {
      TW_RETURN_IF_ERROR(AddTree(training, predicted, round, model));
      ++round;
      TW_ASSIGN_OR_RETURN(const std::vector<double> of_rows,
                          model.Predict(training));
      predicted = SumRows(measured_.candidates, of_rows);
      const double error = Error(predicted);
      // A model has one tree at least; smaller steps are noise of floats.
      if (best_rounds == 0 || error < best_error * (1 - 1e-6)) {
        best_error = error;
        best_rounds = round;
      }
    }
    return best_rounds < round ? model.First(best_rounds) : std::move(model);
  }

 private:
  // The error, above 0, by which training stops when it no longer falls.
  double Error(const std::vector<double>& predicted) const {
    if (options_.stop_by == StopBy::kAverageRecall) {
      double recall = 0;
      for (const std::vector<int>& task : tasks_) {
        recall +=
            AverageRecall(Select(predicted, task),
                          Select(measured_.scores, task), options_.recall_at) /
            tasks_.size();
      }
      return 2 - recall;
    }
    return RootMeanSquaredError(predicted, measured_.scores);
  }

  absl::Status AddTree(const XgboostMatrix& training,
                       const std::vector<double>& predicted, int round,
                       XgboostModel& model) const {
    const std::vector<Derivatives> derivatives =
        options_.loss == Loss::kPairwiseRank
            ? PairwiseRank(predicted, measured_.scores, tasks_,
                           options_.seed + round)
            : SquaredError(predicted, measured_.scores,
                           options_.weigh_by_score);
    // A candidate's score is a sum: it has the same first derivative by every
    // row. All rows may move at once, by as much together as one would alone:
    // (sum of n steps)^2 <= n sum of steps^2, so that n times the second
    // derivative bounds what they do to the loss.
    std::vector<float> first, second;
    for (int i = 0; i < measured_.candidates.size(); ++i) {
      const int rows = measured_.candidates.row_count(i);
      first.insert(first.end(), rows, static_cast<float>(derivatives[i].first));
      second.insert(second.end(), rows,
                    static_cast<float>(rows * derivatives[i].second));
    }
    return model.Boost(training, std::move(first), std::move(second));
  }

  const BoostedTreesOptions& options_;
  const MeasuredCandidates& measured_;
  const std::vector<std::vector<int>> tasks_;
};

}  // namespace

BoostedTreesOptions BoostedTreesOptions::Ansor() { return {}; }

BoostedTreesOptions BoostedTreesOptions::AutoTvm(Loss loss) {
  BoostedTreesOptions options;
  options.max_depth = 3;
  options.gamma = 0.0001;
  options.min_child_weight = 1;
  options.eta = 0.3;
  options.loss = loss;
  options.weigh_by_score = false;
  options.stop_by = StopBy::kAverageRecall;
  options.patience = 20;
  options.max_rounds = 8000;
  options.seed = 0;
  return options;
}

class BoostedTrees::Booster {
 public:
  explicit Booster(XgboostModel model) : model(std::move(model)) {}
  XgboostModel model;
};

BoostedTrees::BoostedTrees(const BoostedTreesOptions& options)
    : options_(options) {}
BoostedTrees::~BoostedTrees() = default;

absl::Status BoostedTrees::Fit(const MeasuredCandidates& measured) {
  TW_RETURN_IF_ERROR(Check(measured));
  if (measured.candidates.rows.columns() == 0) {
    return absl::InvalidArgumentError("boosted trees need features");
  }
  if (options_.patience < 1 || options_.max_rounds < 1 ||
      options_.recall_at < 1 || options_.threads < 1) {
    return absl::InvalidArgumentError(
        "boosted trees need at least one round of patience, round, recalled "
        "candidate and thread");
  }
  TW_ASSIGN_OR_RETURN(XgboostModel model, Fitting(options_, measured).Run());
  booster_ = std::make_unique<Booster>(std::move(model));
  columns_ = measured.candidates.rows.columns();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Prediction>> BoostedTrees::Predict(
    const CandidateFeatures& candidates) const {
  TW_RETURN_IF_ERROR(Check(candidates));
  if (booster_ == nullptr) {
    return absl::FailedPreconditionError(
        "boosted trees predict only what they were fitted to: call Fit");
  }
  if (candidates.rows.columns() != columns_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the boosted trees were fitted to ", columns_, " features, not to ",
        candidates.rows.columns(), ": fit them again"));
  }
  std::vector<Prediction> predictions;
  if (candidates.size() == 0) return predictions;
  TW_ASSIGN_OR_RETURN(const XgboostMatrix matrix,
                      MatrixOf(candidates, options_.threads));
  TW_ASSIGN_OR_RETURN(const std::vector<double> of_rows,
                      booster_->model.Predict(matrix));
  for (const double score : SumRows(candidates, of_rows)) {
    predictions.push_back({score, {}});
  }
  return predictions;
}

int BoostedTrees::rounds() const {
  return booster_ == nullptr ? 0 : booster_->model.rounds();
}

absl::StatusOr<std::string> BoostedTrees::Save() const {
  if (booster_ == nullptr) {
    return absl::FailedPreconditionError(
        "there are no boosted trees to save yet: call Fit");
  }
  BoostedTreesProto proto;
  proto.set_columns(columns_);
  TW_ASSIGN_OR_RETURN(*proto.mutable_model(), booster_->model.Save());
  return SaveModel(kKind, kVersion, proto);
}

absl::StatusOr<std::unique_ptr<BoostedTrees>> BoostedTrees::Load(
    std::string_view bytes, const BoostedTreesOptions& options) {
  BoostedTreesProto proto;
  TW_RETURN_IF_ERROR(LoadModel(bytes, kKind, kVersion, proto));
  TW_ASSIGN_OR_RETURN(XgboostModel model, XgboostModel::Load(proto.model()));
  auto trees = std::make_unique<BoostedTrees>(options);
  trees->booster_ = std::make_unique<Booster>(std::move(model));
  trees->columns_ = proto.columns();
  return trees;
}

}  // namespace tilewright::costmodel
