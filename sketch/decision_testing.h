// What must hold of a family's decisions, checked on one workload: answers
// drawn at random give a schedule that computes what the graph means, or are
// refused with a reason.
#ifndef TILEWRIGHT_SKETCH_DECISION_TESTING_H_
#define TILEWRIGHT_SKETCH_DECISION_TESTING_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/workload.h"

namespace tilewright::sketch {

// Over all cases of a test.
struct DecisionCounts {
  int accepted = 0;
  std::map<std::string, int> refused;  // by reason
  // By the name of a one-of: the options there were, and those that schedules
  // were made with.
  std::map<std::string, std::set<std::string>> options, taken;

  // One line per reason, and per option that was never taken.
  std::string ToString() const;
};

// Draws answers from `seed` for the first generator of the workload. Unless
// they are refused as InvalidArgument: the schedule replays; its tree computes
// what the reference interpreter computes; the table, read back, gives the same
// schedule, with nothing rounded or unused. Then draws only what may not change
// bits: the tree's results are those of the preferred schedule. Internal says
// what does not hold.
absl::Status CheckDecisions(const Workload& workload, const DeviceSpec& spec,
                            uint64_t seed, DecisionCounts& counts);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_DECISION_TESTING_H_
