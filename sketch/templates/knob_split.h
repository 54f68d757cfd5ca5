// AutoTVM's define_split as a space of decisions (Chen et al., "Learning to
// optimize tensor programs", NeurIPS 2018; TVM 0.18, autotvm/task/space.py): an
// extent in parts, all but the outermost from a list of candidates.
#ifndef TILEWRIGHT_SKETCH_TEMPLATES_KNOB_SPLIT_H_
#define TILEWRIGHT_SKETCH_TEMPLATES_KNOB_SPLIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "sketch/trace/schedule.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/space.h"

namespace tilewright::sketch {

class KnobSplit {
 public:
  enum class Policy : uint8_t {
    kFactors,  // divisors, without tails
    kPower2,   // powers of two, with tails
    kVerbose,  // both
  };

  // `most`: of the innermost part; 0: any. REQUIRES: extent >= 1, parts >= 2.
  KnobSplit(int64_t extent, int parts, Policy policy, int64_t most = 0);

  const Space& space() const { return space_; }
  // The parts that a value stands for, outermost first; they cover the extent.
  Factors Parts(const DecisionValue& value) const;
  // TVM's fallback_split: from the innermost part on, the largest that divides
  // what is left and is at most what is wanted. `wanted`: all but the
  // outermost.
  DecisionValue Fallback(const Factors& wanted) const;
  // Asks for `name`, preferring the fallback.
  Factors Decide(Decider& decider, const std::string& name,
                 const Factors& wanted, Bits bits = Bits::kSame) const;

 private:
  const int64_t extent_;
  const std::vector<int64_t> candidates_;  // ascending
  const Space space_;
};

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TEMPLATES_KNOB_SPLIT_H_
