// A generator's decisions put to the test: schedules of random answers compute
// what the workload means, or are refused with a reason.
#ifndef TILEWRIGHT_SKETCH_TESTING_CHECKED_DECISIONS_H_
#define TILEWRIGHT_SKETCH_TESTING_CHECKED_DECISIONS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/workload.h"

namespace tilewright::sketch {

struct DecisionTally {
  int schedules = 0;                    // that replayed
  std::map<std::string, int> refusals;  // by message
  // By decision, in schedules that replayed: the values that were taken, and
  // of one-of the options there were.
  std::map<std::string, std::set<std::string>> values, options;

  // "NAME = OPTION" of those that were never taken.
  std::vector<std::string> NeverTaken() const;
  // One line per refusal, decision, and option that was never taken.
  std::string ToString() const;
};

// With answers drawn from `seed`: a schedule replays to a tree that computes
// what the graph means, or it is refused as InvalidArgument; its table, read
// back, gives the schedule again; with the preferred answers to what may change
// bits, results are bit for bit the preferred schedule's. What does not hold is
// a failed expectation.
void CheckDecisions(const Generator& generator, const Workload& workload,
                    const DeviceSpec& spec, uint64_t seed,
                    DecisionTally& tally);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TESTING_CHECKED_DECISIONS_H_
