// Ansor's rules for CPUs, in their order (TVM 0.18, auto_scheduler,
// sketch_policy_rules.cc):
//
//   inline            AlwaysInline: elementwise computes that cost nothing
//   unroll-constants  SimplifyComputeWithConstTensor: two levels of tiles, the
//                     axes of constant matrices unrolled
//   rfactor           AddRfactor: the steps of a reduction cut in two, partial
//                     results per outer or per inner step
//   cache-write       AddCacheWrite, and the fusion that always follows it:
//                     tiles in an accumulator of their own, copied out at the
//                     first or second level
//   tile-fused        MultiLevelTilingWithFusion: with its elementwise reader,
//                     at the first or second level
//   tile              MultiLevelTiling: SSRSRS
//   skip              SkipStage: as it is; computed anywhere, or inlined
#ifndef TILEWRIGHT_SKETCH_DERIVATION_SKETCH_RULES_H_
#define TILEWRIGHT_SKETCH_DERIVATION_SKETCH_RULES_H_

#include <vector>

#include "sketch/derivation/derivation_style.h"
#include "sketch/derivation/sketch_rule.h"

namespace tilewright::sketch {

struct SketchRules {
  std::vector<SketchRule> rules;  // in the order in which they are asked
  DerivationStyle style;
};

// With TVM's annotation: their sketches are as many as TVM's.
SketchRules TvmCpuRules();
// For searching: the same rules, and all that DerivationStyle adds.
SketchRules ExtendedRules();

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_DERIVATION_SKETCH_RULES_H_
