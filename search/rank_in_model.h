// Ranks the winners of a search again, in the whole model: they stay unless the
// model seems slower with them, with any number of threads.
//
// All of them are compared with the rules' schedules at once. Where the model
// is slower, each half of them is compared, and so on down to those that are to
// blame: about 3 log2(n) comparisons where it is one of n. One winner's gain is
// mostly within the noise of a model's runs, and is not asked for.
#ifndef TILEWRIGHT_SEARCH_RANK_IN_MODEL_H_
#define TILEWRIGHT_SEARCH_RANK_IN_MODEL_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "measure/stats/paired_ratio.h"
#include "search/model_evaluator.h"

namespace tilewright::search {

struct ModelComparison {
  std::vector<bool> tuned;  // by task
  int threads = 1;
  ModelRounds rounds;
  measure::PairedRatio ratio;  // tuned to rules
};

struct ModelRanking {
  std::vector<bool> kept;  // by task: its winner stays
  std::vector<ModelComparison> comparisons;
};

struct RankInModelOptions {
  std::vector<int> threads = {1};  // numbers of threads that models run with
  // Winners not known to be harmless by then are dropped.
  int most_comparisons = 24;
};

// `winners`: the tasks that have one, the most important ones first; of `tasks`
// tasks. Errors are the evaluator's.
absl::StatusOr<ModelRanking> RankInModel(size_t tasks,
                                         const std::vector<size_t>& winners,
                                         ModelEvaluator& evaluator,
                                         const RankInModelOptions& options);

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_RANK_IN_MODEL_H_
