// A method of search: which candidates of a task are worth measuring next.
#ifndef TILEWRIGHT_SEARCH_METHOD_H_
#define TILEWRIGHT_SEARCH_METHOD_H_

#include <functional>
#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/random.h"
#include "costmodel/cost_model.h"
#include "search/candidate.h"
#include "search/space.h"

namespace tilewright::search {

// A candidate that was measured.
struct Trial {
  Candidate candidate;
  double ns = std::numeric_limits<double>::infinity();  // it failed
};

// One a candidate. Scores are relative to the task's fastest candidate, which
// has 1 (costmodel/cost_model.h).
using Predict =
    std::function<absl::StatusOr<std::vector<costmodel::Prediction>>(
        absl::Span<const Candidate* const>)>;

// The knowledge about a task when a batch is asked for. All outlive the call.
struct SearchState {
  TaskSpace& space;
  const Traces& visited;           // never proposed again
  absl::Span<const Trial> trials;  // in the order in which they were measured
  // Where a first population begins: the rules' candidate, records'. They may
  // have been measured.
  absl::Span<const Candidate> seeds;
  const Predict& predict;  // null before anything was learned
  Random& random;
};

class Method {
 public:
  virtual ~Method() = default;

  // At most `count` candidates with traces of their own that were not visited,
  // the most promising first. None: there are no more, or none can be found. An
  // error means that the method cannot go on.
  virtual absl::StatusOr<std::vector<Candidate>> Propose(
      int count, const SearchState& state) = 0;
};

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_METHOD_H_
