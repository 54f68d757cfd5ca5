#include "search/evolution.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "search/epsilon_greedy.h"

namespace tilewright::search {
namespace {

constexpr int kTriesOfAChild = 3;

// Every candidate that evolution has met, each once, with its score.
class Pool {
 public:
  explicit Pool(const SearchState& state) : state_(state) {}

  size_t Add(Candidate candidate) {
    const auto [place, is_new] =
        index_.emplace(candidate.trace, candidates_.size());
    if (is_new) candidates_.push_back(std::move(candidate));
    return place->second;
  }

  // Scores the members that were added since the last call.
  absl::Status Score() {
    std::vector<const Candidate*> unscored;
    for (size_t i = scores_.size(); i < candidates_.size(); ++i)
      unscored.push_back(&candidates_[i]);
    if (unscored.empty()) return absl::OkStatus();
    if (!state_.predict) {
      while (scores_.size() < candidates_.size())
        scores_.push_back(state_.random.Uniform());
      return absl::OkStatus();
    }
    TW_ASSIGN_OR_RETURN(const std::vector<costmodel::Prediction> predictions,
                        state_.predict(unscored));
    for (const costmodel::Prediction& prediction : predictions)
      scores_.push_back(prediction.score);
    return absl::OkStatus();
  }

  const Candidate& at(size_t i) const { return candidates_[i]; }
  double score(size_t i) const { return scores_[i]; }

  // Those that were not visited, best first.
  std::vector<Candidate> TakeBest() {
    std::vector<size_t> order(candidates_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return scores_[a] > scores_[b];
    });
    std::vector<Candidate> best;
    for (const size_t i : order) {
      if (state_.visited.count(candidates_[i].trace) == 0)
        best.push_back(std::move(candidates_[i]));
    }
    return best;
  }

 private:
  const SearchState& state_;
  std::map<Fingerprint, size_t> index_;
  std::vector<Candidate> candidates_;
  std::vector<double> scores_;
};

using Population = std::vector<size_t>;  // of the pool

// The fastest that were measured, at most `count`, the fastest first.
std::vector<const Candidate*> Fastest(absl::Span<const Trial> trials,
                                      int count) {
  std::vector<const Trial*> order;
  for (const Trial& trial : trials) {
    if (std::isfinite(trial.ns)) order.push_back(&trial);
  }
  std::stable_sort(
      order.begin(), order.end(),
      [](const Trial* a, const Trial* b) { return a->ns < b->ns; });
  if (static_cast<int>(order.size()) > count)
    order.resize(static_cast<size_t>(count));
  std::vector<const Candidate*> fastest;
  for (const Trial* trial : order) fastest.push_back(&trial->candidate);
  return fastest;
}

Population FirstPopulation(const EvolutionOptions& options,
                           const SearchState& state, Pool& pool) {
  std::vector<const Candidate*> known =
      Fastest(state.trials,
              static_cast<int>(options.measured_share * options.population));
  for (const Candidate& seed : state.seeds) known.push_back(&seed);
  Population first;
  Traces taken;
  for (const Candidate* candidate : known) {
    if (!taken.insert(candidate->trace).second) continue;
    first.push_back(pool.Add(*candidate));
  }
  const auto add = [&](std::vector<Candidate> candidates) {
    for (Candidate& candidate : candidates) {
      taken.insert(candidate.trace);
      first.push_back(pool.Add(std::move(candidate)));
    }
  };
  const auto missing = [&] {
    return std::max(0, options.population - static_cast<int>(first.size()));
  };
  if (!known.empty()) {
    add(state.space.Collect(
        static_cast<int>(options.mutant_share * missing()), taken, [&] {
          const Candidate& parent = *known[state.random.Index(known.size())];
          return state.space.Mutate(parent, state.random);
        }));
  }
  add(state.space.DrawNew(missing(), taken, state.random));
  return first;
}

// Draws members in proportion to their scores, those below 0 never; all alike
// if there is none above.
class Roulette {
 public:
  Roulette(const Pool& pool, const Population& population)
      : population_(population) {
    double sum = 0;
    for (const size_t member : population) {
      sum += std::max(0.0, pool.score(member));
      sums_.push_back(sum);
    }
  }
  size_t Draw(Random& random) const {
    if (!(sums_.back() > 0))
      return population_[random.Index(population_.size())];
    const auto place = std::upper_bound(sums_.begin(), sums_.end(),
                                        random.Uniform(0, sums_.back()));
    return population_[std::min(static_cast<size_t>(place - sums_.begin()),
                                population_.size() - 1)];
  }

 private:
  const Population& population_;
  std::vector<double> sums_;
};

absl::StatusOr<Candidate> MakeChild(const EvolutionOptions& options,
                                    const SearchState& state, const Pool& pool,
                                    const Roulette& parents, size_t parent) {
  const Candidate* from = &pool.at(parent);
  absl::StatusOr<Candidate> crossed = absl::CancelledError("not crossed");
  if (state.random.Bernoulli(options.crossover)) {
    const Candidate& other = pool.at(parents.Draw(state.random));
    if (other.generator == from->generator && other.trace != from->trace) {
      crossed = state.space.Cross(*from, other, state.random);
      if (!crossed.ok()) return crossed;
      from = &*crossed;
    }
  }
  if (state.random.Bernoulli(options.mutation))
    return state.space.Mutate(*from, state.random);
  return *from;
}

}  // namespace

EvolutionOptions EvolutionOptions::Ansor() {
  EvolutionOptions options;
  options.population = 2048;
  options.mutant_share = 0;
  return options;
}

absl::StatusOr<std::vector<Candidate>> Evolution::Propose(
    int count, const SearchState& state) {
  Pool pool(state);
  Population population = FirstPopulation(options_, state, pool);
  TW_RETURN_IF_ERROR(pool.Score());
  for (int i = 0; i < options_.generations && !population.empty(); ++i) {
    const Roulette parents(pool, population);
    Population next;
    for (size_t k = 0; k < population.size(); ++k) {
      const size_t parent = parents.Draw(state.random);
      size_t child = parent;
      for (int tries = 0; tries < kTriesOfAChild; ++tries) {
        absl::StatusOr<Candidate> made =
            MakeChild(options_, state, pool, parents, parent);
        if (!made.ok()) continue;
        child = pool.Add(*std::move(made));
        break;
      }
      next.push_back(child);
    }
    TW_RETURN_IF_ERROR(pool.Score());
    population = std::move(next);
  }
  return PickEpsilonGreedy(pool.TakeBest(), count, options_.epsilon, state);
}

}  // namespace tilewright::search
