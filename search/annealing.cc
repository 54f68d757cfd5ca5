#include "search/annealing.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "costmodel/cost_model.h"
#include "search/diverse_pick.h"
#include "search/epsilon_greedy.h"

namespace tilewright::search {
namespace {

using Met = AnnealingChains::Met;

std::vector<Candidate> PickDiverseOf(std::vector<Met> met, int count,
                                     double coverage_weight) {
  std::vector<Candidate> candidates;
  std::vector<double> scores;
  for (Met& one : met) {
    candidates.push_back(std::move(one.candidate));
    scores.push_back(one.score);
  }
  std::vector<Candidate> picked;
  for (const size_t i : PickDiverse(candidates, scores, count, coverage_weight))
    picked.push_back(std::move(candidates[i]));
  return picked;
}

}  // namespace

absl::StatusOr<std::vector<Candidate>> Annealing::Propose(
    int count, const SearchState& state) {
  if (!state.predict)
    return state.space.DrawNew(count, state.visited, state.random);
  const auto score = [&](absl::Span<const Candidate* const> candidates)
      -> absl::StatusOr<std::vector<double>> {
    TW_ASSIGN_OR_RETURN(const std::vector<costmodel::Prediction> predictions,
                        state.predict(candidates));
    std::vector<double> scores;
    for (const costmodel::Prediction& prediction : predictions)
      scores.push_back(prediction.score);
    return scores;
  };
  const int wanted =
      static_cast<int>(count * std::max(1.0, options_.diversity_ratio));
  TW_ASSIGN_OR_RETURN(std::vector<Met> met, chains_.Walk(wanted, score, state));
  return PickEpsilonGreedy(
      PickDiverseOf(
          std::move(met), count,
          options_.diversity_ratio > 1 ? options_.coverage_weight : 0),
      count, options_.epsilon, state);
}

}  // namespace tilewright::search
