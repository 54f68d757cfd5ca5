// One schedule that a search may measure: what was decided, the trace that came
// of it, and what a cost model sees of it.
#ifndef TILEWRIGHT_SEARCH_CANDIDATE_H_
#define TILEWRIGHT_SEARCH_CANDIDATE_H_

#include <cstddef>
#include <set>

#include "base/fingerprint.h"
#include "costmodel/feature_matrix.h"
#include "sketch/trace/schedule.h"
#include "tilegraph/decision/table.h"

namespace tilewright::search {

struct Candidate {
  size_t generator = 0;  // its index in the space
  DecisionTable table;
  sketch::Schedule schedule;
  // The fingerprint of the instructions alone: candidates with equal traces are
  // one, whatever was decided.
  Fingerprint trace;
  costmodel::FeatureMatrix features;
};

using Traces = std::set<Fingerprint>;

Fingerprint TraceOf(const sketch::Schedule& schedule);

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_CANDIDATE_H_
