// The outcome of a fusion that was evaluated, and the words for it.
#ifndef TILEWRIGHT_TILEGRAPH_FUSE_FUSION_DECISION_H_
#define TILEWRIGHT_TILEGRAPH_FUSE_FUSION_DECISION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tilegraph/cost/group_cost_model.h"

namespace tilewright {

// A tile of a fusion that was profiled.
struct ProfiledTile {
  TilePlan plan;
  absl::StatusOr<double> one_core_seconds;
};

// A fusion that was evaluated.
struct FusionDecision {
  std::vector<int> groups;    // of the register plan
  std::vector<int> left_out;  // of the parts: these stay apart (again)
  bool taken = false;         // while it is evaluated: it saves enough
  std::string why;            // one line, for people
  // That no kernel can be made of it in any tiles that would save enough, or
  // that none is right.
  absl::Status no_kernel;
  GroupCost fused;  // of the chosen tile, or of the best by estimate; empty if
                    // it never came to an estimate
  double left_core_seconds = 0;  // by estimate, of what is left out
  double unfused_core_seconds =
      0;                     // by estimate, of the parts it would be made of
  double unfused_bytes = 0;  // that leave the private caches
  double saved_core_seconds = 0;  // measured if it was profiled

  // With a profiler: as far as it came to that.
  std::vector<ProfiledTile> profiled;
  std::optional<double> fused_one_core_seconds, unfused_one_core_seconds;
  double left_one_core_seconds = 0;
  bool interleaved = false;  // those were measured interleaved
};

// One line each. Why it loses by estimate, or gains too little.
std::string WhyNotByEstimate(const FusionDecision& decision);
// The same of a single core, of which `share` of the time would be left.
std::string WhyNotOnOneCore(const GroupCost& fused, double share);
// Says what a fusion that is taken saves by estimate.
std::string EstimatedGain(const FusionDecision& decision);
// Says what was measured. REQUIRES: there is a time of all.
std::string OutcomeByTime(const FusionDecision& decision);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_FUSE_FUSION_DECISION_H_
