#include "search/contextual_annealing.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "costmodel/cost_model.h"
#include "costmodel/expected_improvement.h"
#include "search/epsilon_greedy.h"

namespace tilewright::search {
namespace {

constexpr double kBestScore = 1;

struct Estimate {
  double mean, stddev;
};

absl::StatusOr<std::vector<Estimate>> EstimatesOf(
    absl::Span<const Candidate* const> candidates, const SearchState& state) {
  std::vector<Estimate> estimates;
  if (candidates.empty()) return estimates;
  TW_ASSIGN_OR_RETURN(const std::vector<costmodel::Prediction> predictions,
                      state.predict(candidates));
  for (const costmodel::Prediction& prediction : predictions) {
    if (!prediction.variance) {
      return absl::FailedPreconditionError(
          "contextual annealing needs a cost model that tells variances: a "
          "random forest");
    }
    estimates.push_back(
        {prediction.score, std::sqrt(std::max(0.0, *prediction.variance))});
  }
  return estimates;
}

}  // namespace

absl::Status ContextualAnnealing::AdaptEpsilon(const SearchState& state) {
  const std::vector<Candidate> samples =
      state.space.DrawNew(options_.samples, state.visited, state.random);
  std::vector<const Candidate*> pointers;
  for (const Candidate& sample : samples) pointers.push_back(&sample);
  TW_ASSIGN_OR_RETURN(const std::vector<Estimate> estimates,
                      EstimatesOf(pointers, state));
  if (!estimates.empty()) {
    double sum = 0;
    for (const Estimate& estimate : estimates) sum += estimate.stddev;
    epsilon_ =
        std::min(1.0, sum / static_cast<double>(estimates.size()) / kBestScore);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Candidate>> ContextualAnnealing::Propose(
    int count, const SearchState& state) {
  if (!state.predict)
    return state.space.DrawNew(count, state.visited, state.random);
  const auto improvement = [&](absl::Span<const Candidate* const> candidates)
      -> absl::StatusOr<std::vector<double>> {
    TW_ASSIGN_OR_RETURN(const std::vector<Estimate> estimates,
                        EstimatesOf(candidates, state));
    std::vector<double> scores;
    for (const Estimate& estimate : estimates) {
      scores.push_back(costmodel::ExpectedScoreImprovement(
          estimate.mean, estimate.stddev, kBestScore));
    }
    return scores;
  };
  TW_ASSIGN_OR_RETURN(std::vector<AnnealingChains::Met> met,
                      chains_.Walk(count, improvement, state));
  if (options_.adapt_epsilon) TW_RETURN_IF_ERROR(AdaptEpsilon(state));
  std::vector<Candidate> best;
  for (AnnealingChains::Met& one : met)
    best.push_back(std::move(one.candidate));
  return PickEpsilonGreedy(std::move(best), count, epsilon_, state);
}

}  // namespace tilewright::search
