#include "bench/search/scheme.h"

#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "costmodel/boosted_trees.h"
#include "costmodel/forest_cost_model.h"
#include "search/annealing.h"
#include "search/contextual_annealing.h"
#include "search/evolution.h"
#include "search/grid_search.h"
#include "search/random_search.h"

namespace tilewright::bench {
namespace {

using Method = Scheme::Method;
using Model = Scheme::Model;

constexpr double kCrossover = 0.15, kDiversityRatio = 2, kCurious = 0.25;

const std::map<std::string, Method>& Methods() {
  static const auto* const kMethods =
      new std::map<std::string, Method>{{"evolution", Method::kEvolution},
                                        {"annealing", Method::kAnnealing},
                                        {"improvement", Method::kImprovement},
                                        {"contextual", Method::kContextual},
                                        {"random", Method::kRandom},
                                        {"grid", Method::kGrid}};
  return *kMethods;
}

const std::map<std::string, Model>& Models() {
  static const auto* const kModels =
      new std::map<std::string, Model>{{"none", Model::kNone},
                                       {"ansor", Model::kAnsorTrees},
                                       {"regression", Model::kRegressionTrees},
                                       {"rank", Model::kRankTrees},
                                       {"forest", Model::kForest}};
  return *kModels;
}

Model DefaultModel(Method method) {
  switch (method) {
    case Method::kRandom:
    case Method::kGrid:
      return Model::kNone;
    case Method::kImprovement:
    case Method::kContextual:
      return Model::kForest;
    case Method::kEvolution:
    case Method::kAnnealing:
      break;
  }
  return Model::kAnsorTrees;
}

bool TakeWord(const std::string& word, Scheme& scheme) {
  const auto model = Models().find(word);
  if (model != Models().end()) {
    scheme.model = model->second;
  } else if (word == "crossover") {
    scheme.crossover = kCrossover;
  } else if (word == "diverse") {
    scheme.diverse = true;
  } else if (word == "adaptive") {
    scheme.adaptive = true;
  } else if (word == "curious") {
    scheme.epsilon = kCurious;
  } else if (word == "seeded") {
    scheme.seeded = true;
  } else {
    return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<Scheme> ParseScheme(const std::string& text) {
  const std::vector<std::string> words = absl::StrSplit(text, ':');
  const auto method = Methods().find(words[0]);
  if (method == Methods().end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", words[0], "' is no method of search"));
  }
  Scheme scheme;
  scheme.name = text;
  scheme.method = method->second;
  scheme.model = DefaultModel(scheme.method);
  for (size_t i = 1; i < words.size(); ++i) {
    if (!TakeWord(words[i], scheme)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", words[i], "' of '", text, "' says nothing about a search"));
    }
  }
  const bool needs_variance = scheme.method == Method::kImprovement ||
                              scheme.method == Method::kContextual;
  if (needs_variance && scheme.model != Model::kForest) {
    return absl::InvalidArgumentError(absl::StrCat(
        text, ": expected improvement needs a forest's variances"));
  }
  return scheme;
}

std::unique_ptr<search::Method> MakeMethod(const Scheme& scheme) {
  switch (scheme.method) {
    case Method::kEvolution: {
      search::EvolutionOptions options;
      options.crossover = scheme.crossover;
      options.epsilon = scheme.epsilon;
      return std::make_unique<search::Evolution>(options);
    }
    case Method::kAnnealing: {
      search::AnnealingOptions options;
      if (scheme.diverse) options.diversity_ratio = kDiversityRatio;
      return std::make_unique<search::Annealing>(options);
    }
    case Method::kImprovement:
    case Method::kContextual: {
      search::ContextualAnnealingOptions options;
      options.adapt_epsilon = scheme.method == Method::kContextual;
      return std::make_unique<search::ContextualAnnealing>(options);
    }
    case Method::kGrid:
      return std::make_unique<search::GridSearch>();
    case Method::kRandom:
      break;
  }
  return std::make_unique<search::RandomSearch>();
}

std::unique_ptr<search::ScoreModel> MakeModel(const Scheme& scheme,
                                              uint64_t seed) {
  using costmodel::BoostedTreesOptions;
  std::unique_ptr<costmodel::CostModel> model;
  switch (scheme.model) {
    case Model::kNone:
      return nullptr;
    case Model::kForest: {
      costmodel::ForestCostModelOptions options;
      options.forest.trees = 50;
      options.forest.max_features = 55;
      options.forest.seed = seed;
      model = std::make_unique<costmodel::ForestCostModel>(options);
      break;
    }
    case Model::kAnsorTrees:
      model = std::make_unique<costmodel::BoostedTrees>(
          BoostedTreesOptions::Ansor());
      break;
    case Model::kRegressionTrees:
      model = std::make_unique<costmodel::BoostedTrees>(
          BoostedTreesOptions::AutoTvm());
      break;
    case Model::kRankTrees:
      model = std::make_unique<costmodel::BoostedTrees>(
          BoostedTreesOptions::AutoTvm(
              BoostedTreesOptions::Loss::kPairwiseRank));
      break;
  }
  return std::make_unique<search::ScoreModel>(std::move(model));
}

measure::AdaptiveEvaluatorOptions RepeatsOf(const Scheme& scheme) {
  const auto adaptive = measure::AdaptiveEvaluatorOptions::AsInPaper();
  return scheme.adaptive
             ? adaptive
             : measure::AdaptiveEvaluatorOptions::Fixed(adaptive.max_repeats);
}

}  // namespace tilewright::bench
