// Sample groups under schedules that any answers give, as cases: for tests that
// decisions change nothing but speed.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_TESTING_DECIDED_CASE_H_
#define TILEWRIGHT_BACKENDS_LOWERING_TESTING_DECIDED_CASE_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/lowering/testing/random_case.h"
#include "sketch/testing/sample_groups.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/table.h"

namespace tilewright::lowering {

struct DecidedCase {
  DecisionTable table;
  RandomCase random_case;

  std::string ToString() const;  // the decisions, then the case
};

// InvalidArgument if generator or replay refuse the answers; Internal names
// what they wrote that neither may: a tree that is none, or cannot be lowered.
absl::StatusOr<DecidedCase> DecideCase(const sketch::SampleGroup& group,
                                       DecisionPolicy& policy, uint64_t seed);

// How often generators were refused, and why: messages without their numbers.
class Refusals {
 public:
  void Add(const sketch::SampleGroup& group, const absl::Status& status);
  // One line per generator and reason, "  12 x contraction: ## split: ...".
  std::string ToString() const;
  int64_t count() const { return count_; }

 private:
  std::map<std::string, int64_t> reasons_;
  int64_t count_ = 0;
};

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_TESTING_DECIDED_CASE_H_
