// Who answers a Decider.
#ifndef TILEWRIGHT_TILEGRAPH_DECISION_POLICIES_H_
#define TILEWRIGHT_TILEGRAPH_DECISION_POLICIES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tilegraph/decision/decider.h"

namespace tilewright {

// The rules: what a generator prefers.
class PreferredPolicy : public DecisionPolicy {
 public:
  DecisionValue Answer(const std::string& name, const Space& space,
                       Prefer preferred) override;
};

// Every value of a space equally often. Answers depend on seed, name and space
// alone, not on what else is asked.
class RandomPolicy : public DecisionPolicy {
 public:
  explicit RandomPolicy(uint64_t seed) : seed_(seed) {}
  DecisionValue Answer(const std::string& name, const Space& space,
                       Prefer preferred) override;

 private:
  const uint64_t seed_;
};

// The answers of a table, or the nearest there is in the space now; what it
// does not hold, or what cannot be read, another policy answers.
class TablePolicy : public DecisionPolicy {
 public:
  // `rest` must outlive it.
  TablePolicy(Answers answers, DecisionPolicy& rest);
  DecisionValue Answer(const std::string& name, const Space& space,
                       Prefer preferred) override;

  // The run's answers that were outside their space or unreadable, "NAME =
  // ASKED: ..., taken as GOT", and the names nobody asked for.
  std::vector<std::string> Rounded() const;
  std::vector<std::string> Unused() const;

 private:
  const Answers answers_;
  DecisionPolicy& rest_;
  std::map<std::string, std::string> rounded_;  // by name
  std::set<std::string> used_;
};

// All tables of a generator, one run each, in a fixed order; what is decided in
// a trial branches too, so that tables that differ only there repeat. REQUIRES:
// of equal answers, equal questions; no space of more than 2^20 values.
//
//   EnumeratingPolicy all;
//   do {
//     Decider decider(all);
//     Generate(workload, spec, decider);
//   } while (all.Next());
class EnumeratingPolicy : public DecisionPolicy {
 public:
  DecisionValue Answer(const std::string& name, const Space& space,
                       Prefer preferred) override;
  // Goes on to the next table; false after the last.
  bool Next();

 private:
  struct Branch {
    std::string name;
    std::vector<DecisionValue> values;
    size_t index = 0;
  };
  std::vector<Branch> path_;
  size_t asked_ = 0;  // of path_, in this run
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_DECISION_POLICIES_H_
