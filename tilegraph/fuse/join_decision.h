// The outcome of a join that was weighed, and the words for it.
#ifndef TILEWRIGHT_TILEGRAPH_FUSE_JOIN_DECISION_H_
#define TILEWRIGHT_TILEGRAPH_FUSE_JOIN_DECISION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tilegraph/cost/group_cost_model.h"

namespace tilewright {

// A tile of a join that was profiled.
struct ProfiledTile {
  TilePlan plan;
  absl::StatusOr<double> one_core_seconds;
};

// A join that was weighed.
struct JoinDecision {
  std::vector<int> groups;    // of the register plan
  std::vector<int> left_out;  // of the parts: these stay apart (again)
  bool taken = false;         // while it is weighed: it saves enough
  std::string why;            // one line, for people
  // That no kernel can be made of it in any tiles that would save enough, or
  // that none is right.
  absl::Status no_kernel;
  GroupCost joined;  // of the chosen tile, or of the best by price; empty if it
                     // never came to a price
  double left_core_seconds = 0;   // by price, of what is left out
  double apart_core_seconds = 0;  // by price, of the parts it would be made of
  double apart_bytes = 0;         // that leave the private caches
  double saved_core_seconds = 0;  // measured if it was profiled

  // With a profiler: as far as it came to that.
  std::vector<ProfiledTile> profiled;
  std::optional<double> joined_one_core_seconds, apart_one_core_seconds;
  double left_one_core_seconds = 0;
  bool in_turns = false;  // those were measured in turns
};

// One line each. Why it loses by price, or gains too little.
std::string WhyNotByPrice(const JoinDecision& decision);
// The same of a single core, of which `share` of the time would be left.
std::string WhyNotOnOneCore(const GroupCost& joined, double share);
// Says what a join that is taken saves by price.
std::string GainByPrice(const JoinDecision& decision);
// Says what was measured. REQUIRES: there is a time of all.
std::string OutcomeByTime(const JoinDecision& decision);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_FUSE_JOIN_DECISION_H_
