// Decisions above groups, which are made before a plan:
//
//   channel.block  neighbouring channels of an image that lie side by side: 16,
//                  or 8 where vectors have at most eight floats. Of two vectors
//                  a block few tiles fit 16 registers (docs/results/avx2.md).
//
// It may change bits: terms of a sum follow the layout that they are read from.
#ifndef TILEWRIGHT_TILEGRAPH_PLAN_PLAN_DECISIONS_H_
#define TILEWRIGHT_TILEGRAPH_PLAN_PLAN_DECISIONS_H_

#include "backends/spec/device_spec.pb.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

// `options` with what they leave open decided; what they fix is not asked for.
PlanOptions DecidePlan(const PlanOptions& options, const DeviceSpec& spec,
                       Decider& decider);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_PLAN_PLAN_DECISIONS_H_
