#ifndef TILEWRIGHT_TILEGRAPH_FUSE_PLAN_CACHE_H_
#define TILEWRIGHT_TILEGRAPH_FUSE_PLAN_CACHE_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tilegraph/fuse/plan_profiler.h"

namespace tilewright {

// Keeps measured times of groups by their signature: the canonical group in its
// tiles, the device, its threads and the version of the code that makes kernels
// of groups. The planner asks it before it measures and tells it what it
// measured; equal groups of other models are found too.
class PlanCache {
 public:
  virtual ~PlanCache() = default;

  // As the profiler answered about this group, which may have been in another
  // run: seconds of one core, or an error that says in one line why it has no
  // right kernel. Nothing: it was not measured.
  virtual std::optional<absl::StatusOr<double>> Find(
      const GroupOfPlan& group) = 0;
  // The same of groups that were measured interleaved, in this order.
  virtual std::optional<std::vector<double>> FindInterleaved(
      absl::Span<const GroupOfPlan> groups) = 0;

  // Keeps the profiler's answer. When it returns, Find gives this, and so does
  // that of the next run as far as what keeps it works; an answer that is not
  // about the kernels is not kept.
  virtual void Keep(const GroupOfPlan& group,
                    const absl::StatusOr<double>& seconds) = 0;
  virtual void KeepInterleaved(absl::Span<const GroupOfPlan> groups,
                               const std::vector<double>& seconds) = 0;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_FUSE_PLAN_CACHE_H_
