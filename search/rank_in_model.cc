#include "search/rank_in_model.h"

#include <utility>

#include "absl/types/span.h"
#include "base/status_macros.h"

namespace tilewright::search {
namespace {

using Winners = absl::Span<const size_t>;

class Ranking {
 public:
  Ranking(size_t tasks, ModelEvaluator& evaluator,
          const RankInModelOptions& options)
      : tasks_(tasks), evaluator_(evaluator), options_(options) {}

  // Those of `winners` that together do not slow the model down.
  absl::StatusOr<std::vector<size_t>> Harmless(Winners winners) {
    if (winners.empty()) return std::vector<size_t>();
    TW_ASSIGN_OR_RETURN(const bool slower, IsSlower(winners));
    if (!slower) return std::vector<size_t>(winners.begin(), winners.end());
    if (winners.size() == 1) return std::vector<size_t>();
    const size_t half = winners.size() / 2;
    TW_ASSIGN_OR_RETURN(std::vector<size_t> kept,
                        Harmless(winners.subspan(0, half)));
    TW_ASSIGN_OR_RETURN(const std::vector<size_t> others,
                        Harmless(winners.subspan(half)));
    if (kept.empty() || others.empty()) return kept.empty() ? others : kept;
    std::vector<size_t> both = kept;
    both.insert(both.end(), others.begin(), others.end());
    if (both.size() == winners.size()) return kept;  // known to be slower
    TW_ASSIGN_OR_RETURN(const bool both_slower, IsSlower(both));
    return both_slower ? kept : both;
  }

  std::vector<ModelComparison> Take() && { return std::move(comparisons_); }

 private:
  absl::StatusOr<bool> IsSlower(Winners winners) {
    std::vector<bool> tuned(tasks_, false);
    for (const size_t task : winners) tuned[task] = true;
    for (const int threads : options_.threads) {
      if (static_cast<int>(comparisons_.size()) >= options_.most_comparisons)
        return true;
      ModelComparison one = {tuned, threads, {}, {}};
      TW_ASSIGN_OR_RETURN(one.rounds, evaluator_.Compare(tuned, threads));
      TW_ASSIGN_OR_RETURN(
          one.ratio,
          measure::CompareRounds(one.rounds.tuned_ns, one.rounds.rules_ns));
      comparisons_.push_back(std::move(one));
      if (comparisons_.back().ratio.seems_slower()) return true;
    }
    return false;
  }

  const size_t tasks_;
  ModelEvaluator& evaluator_;
  const RankInModelOptions& options_;
  std::vector<ModelComparison> comparisons_;
};

}  // namespace

absl::StatusOr<ModelRanking> RankInModel(size_t tasks,
                                         const std::vector<size_t>& winners,
                                         ModelEvaluator& evaluator,
                                         const RankInModelOptions& options) {
  Ranking ranking(tasks, evaluator, options);
  TW_ASSIGN_OR_RETURN(const std::vector<size_t> kept,
                      ranking.Harmless(winners));
  ModelRanking result;
  result.kept.assign(tasks, false);
  for (const size_t task : kept) result.kept[task] = true;
  result.comparisons = std::move(ranking).Take();
  return result;
}

}  // namespace tilewright::search
