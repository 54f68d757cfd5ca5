// A way to search, by name: the method, its cost model, and how often a
// candidate is executed. What benchmarks of search compare.
#ifndef TILEWRIGHT_BENCH_SEARCH_SCHEME_H_
#define TILEWRIGHT_BENCH_SEARCH_SCHEME_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "measure/parallel/adaptive_evaluator.h"
#include "search/method.h"
#include "search/score_model.h"

namespace tilewright::bench {

struct Scheme {
  enum class Method : uint8_t {
    kEvolution,
    kAnnealing,
    kImprovement,  // annealing on expected improvement, 5 % drawn at random
    kContextual,   // the same, with the share drawn that AdaTune adapts
    kRandom,
    kGrid,
  };
  enum class Model : uint8_t {
    kNone,
    kAnsorTrees,       // boosted trees, squared errors weighted by score
    kRegressionTrees,  // AutoTVM's, squared errors
    kRankTrees,        // AutoTVM's, pairs
    kForest,
  };
  std::string name;
  Method method = Method::kEvolution;
  Model model = Model::kAnsorTrees;
  double crossover = 0;   // of evolution's children
  bool diverse = false;   // of annealing: a pick that covers values
  bool adaptive = false;  // executions end when their variation is small
  bool seeded = false;    // the generator's preferred candidate comes first
  double epsilon = 0.05;  // of evolution's batches: drawn at random
};

// "METHOD[:WORD]...": evolution, annealing, improvement, contextual, random or
// grid; then a cost model, ansor, regression, rank, forest or none, and any of
// crossover, diverse, adaptive, seeded, curious (a quarter is drawn at random).
// InvalidArgument says what is none.
absl::StatusOr<Scheme> ParseScheme(const std::string& text);

std::unique_ptr<search::Method> MakeMethod(const Scheme& scheme);
// Null if the scheme has no model.
std::unique_ptr<search::ScoreModel> MakeModel(const Scheme& scheme,
                                              uint64_t seed);
// AdaTune's evaluator or its baseline: 500 executions, or fewer once they vary
// by less than 10 % (sections 4.1 and 5).
measure::AdaptiveEvaluatorOptions RepeatsOf(const Scheme& scheme);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_SEARCH_SCHEME_H_
