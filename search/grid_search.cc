#include "search/grid_search.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/space.h"

namespace tilewright::search {
namespace {

constexpr double kMostValues = 1 << 20;  // of EnumeratingPolicy

// Answers like another policy, where a space can be enumerated.
class EnumerableOnly : public DecisionPolicy {
 public:
  explicit EnumerableOnly(DecisionPolicy& policy) : policy_(policy) {}
  DecisionValue Answer(const std::string& name, const Space& space,
                       Prefer preferred) override {
    if (space.size() <= kMostValues && status_.ok())
      return policy_.Answer(name, space, preferred);
    status_.Update(absl::FailedPreconditionError(absl::StrCat(
        "grid search: decision ", name, " has ", space.size(), " values")));
    return preferred();
  }
  const absl::Status& status() const { return status_; }

 private:
  DecisionPolicy& policy_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<std::vector<Candidate>> GridSearch::Propose(
    int count, const SearchState& state) {
  std::vector<Candidate> found;
  Traces taken = state.visited;
  int64_t vain = 0;
  while (static_cast<int>(found.size()) < count &&
         generator_ < state.space.generators()) {
    EnumerableOnly policy(tables_);
    absl::StatusOr<Candidate> candidate = state.space.Run(generator_, policy);
    if (!policy.status().ok()) return policy.status();
    if (!tables_.Next()) {
      ++generator_;
      tables_ = EnumeratingPolicy();
    }
    if (candidate.ok() && taken.insert(candidate->trace).second) {
      found.push_back(*std::move(candidate));
      vain = 0;
    } else if (++vain >= most_vain_runs_) {
      break;
    }
  }
  if (found.empty() && generator_ < state.space.generators()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("grid search: none of ", vain,
                     " tables in a row gave a new candidate"));
  }
  return found;
}

}  // namespace tilewright::search
