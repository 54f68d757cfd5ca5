#include "bench/costmodel/model_times.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "bench/costmodel/thread_time.h"
#include "costmodel/boosted_trees.h"
#include "costmodel/forest_cost_model.h"

namespace tilewright::bench {
namespace {

using costmodel::BoostedTrees;
using costmodel::BoostedTreesOptions;
using costmodel::CostModel;

// Smooth, between 0 and 1, and dependent on most features.
std::vector<double> MadeUpScores(const costmodel::CandidateFeatures& features) {
  std::vector<double> scores;
  int row = 0;
  for (int i = 0; i < features.size(); ++i) {
    double sum = 0;
    for (int k = 0; k < features.row_count(i); ++k, ++row) {
      for (int column = 0; column < features.rows.columns(); ++column) {
        sum += std::sin(column) * features.rows.at(row, column);
      }
    }
    scores.push_back(0.5 + 0.5 * std::sin(sum / 200));
  }
  return scores;
}

absl::StatusOr<ModelTimes> Time(const std::string& name, CostModel& model,
                                const costmodel::MeasuredCandidates& measured) {
  ModelTimes times{name, std::numeric_limits<double>::infinity(),
                   std::numeric_limits<double>::infinity()};
  for (int repeat = 0; repeat < 3; ++repeat) {
    double fit_ns = 0, predict_ns = 0;
    TW_RETURN_IF_ERROR(Timed(fit_ns, [&] { return model.Fit(measured); }));
    TW_RETURN_IF_ERROR(Timed(predict_ns, [&] {
      return model.Predict(measured.candidates).status();
    }));
    times.fit_ms = std::min(times.fit_ms, fit_ns * 1e-6);
    times.predict_ms = std::min(times.predict_ms, predict_ns * 1e-6);
  }
  return times;
}

}  // namespace

absl::StatusOr<std::vector<ModelTimes>> TimeModels(
    const costmodel::CandidateFeatures& candidates) {
  const costmodel::MeasuredCandidates measured{candidates,
                                               MadeUpScores(candidates)};
  std::vector<ModelTimes> all;
  for (const int tried : {0, 55, 10}) {
    costmodel::ForestCostModelOptions options;
    options.forest.max_features = tried;
    costmodel::ForestCostModel forest(options);
    TW_ASSIGN_OR_RETURN(
        ModelTimes times,
        Time(absl::StrCat("random forest, 100 trees, features tried: ",
                          tried == 0 ? "all" : absl::StrCat(tried)),
             forest, measured));
    all.push_back(times);
  }
  const auto boosted = [&](const std::string& name,
                           const BoostedTreesOptions& options) -> absl::Status {
    BoostedTrees trees(options);
    TW_ASSIGN_OR_RETURN(ModelTimes times, Time(name, trees, measured));
    absl::StrAppend(&times.model, ", ", trees.rounds(), " rounds");
    all.push_back(times);
    return absl::OkStatus();
  };
  TW_RETURN_IF_ERROR(
      boosted("boosted trees as Ansor's", BoostedTreesOptions::Ansor()));
  TW_RETURN_IF_ERROR(
      boosted("boosted trees as AutoTVM's", BoostedTreesOptions::AutoTvm()));
  TW_RETURN_IF_ERROR(boosted(
      "boosted trees as AutoTVM's, ranks",
      BoostedTreesOptions::AutoTvm(BoostedTreesOptions::Loss::kPairwiseRank)));
  return all;
}

}  // namespace tilewright::bench
