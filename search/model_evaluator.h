// How long runs of a whole model take. A search knows kernels one by one, on
// warm caches; what one leaves in the caches for the next shows here alone.
#ifndef TILEWRIGHT_SEARCH_MODEL_EVALUATOR_H_
#define TILEWRIGHT_SEARCH_MODEL_EVALUATOR_H_

#include <vector>

#include "absl/status/statusor.h"

namespace tilewright::search {

// Times of a model's runs, by round: of the tuned model, and of the model with
// the rules' schedules executed right beside it.
struct ModelRounds {
  std::vector<double> tuned_ns, rules_ns;
};

class ModelEvaluator {
 public:
  virtual ~ModelEvaluator() = default;

  // `tuned`: by task, whether its winner is used, and not the rules' schedule.
  // An error means that no model can be run any more.
  virtual absl::StatusOr<ModelRounds> Compare(const std::vector<bool>& tuned,
                                              int threads) = 0;
};

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_MODEL_EVALUATOR_H_
