#ifndef TILEWRIGHT_TILEGRAPH_FUSE_PLAN_PROFILER_H_
#define TILEWRIGHT_TILEGRAPH_FUSE_PLAN_PROFILER_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

// A group and the plan that it belongs to.
struct GroupOfPlan {
  const Plan* plan;
  const Group* group;
};

// Measures the times of groups, where estimates of a model are not enough. Only
// groups whose kernels were verified have a time.
class PlanProfiler {
 public:
  virtual ~PlanProfiler() = default;

  // `variants` are one group of `plan` in different tiles: the seconds of one
  // core that does it all, in their order. An error says in one line why a
  // variant has none: no kernel can be made, it crashes, its results are wrong.
  // NotFound, Unavailable and ResourceExhausted are not about the variant:
  // nobody measures, it could not be measured, the time for it is over.
  virtual std::vector<absl::StatusOr<double>> OneCoreSeconds(
      const Plan& plan, absl::Span<const Group> variants) = 0;

  // One core's seconds of each, measured interleaved: whatever else the machine
  // does is the same for all. Equal questions, equal answers.
  virtual absl::StatusOr<std::vector<double>> Interleaved(
      absl::Span<const GroupOfPlan> groups) = 0;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_FUSE_PLAN_PROFILER_H_
