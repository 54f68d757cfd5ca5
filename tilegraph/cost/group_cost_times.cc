// The seconds of groups, made of their counts.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tilegraph/cost/core_levels.h"
#include "tilegraph/cost/group_cost.h"
#include "tilegraph/cost/stage_rules.h"

namespace tilewright {
namespace {

// Rules of the search, not properties of a machine. For a full private cache,
// of all: it holds less than it could.
constexpr double kCrowding = 0.01;
// Share of the time that counts where plans are compared by traffic.
constexpr double kTieShare = 1e-3;

}  // namespace

void GroupEvaluator::AddTimes(const Group& group,
                              const KernelFeatures& features,
                              GroupCost& cost) const {
  const double cores =
      static_cast<double>(std::max<int64_t>(1, spec_.unit().cores()));
  const KernelSeconds seconds = timer_.Of(features);
  // Work of the core with most to do, over the mean; the last tiles may be
  // partial.
  double uneven = std::ceil(cost.tasks / cores) * cores;
  const std::vector<int64_t> whole = graph_.tensor(group.output).static_shape();
  for (size_t d = 0; d < cost.task.size(); ++d)
    uneven *= static_cast<double>(std::min(cost.task[d], whole[d])) /
              static_cast<double>(whole[d]);
  cost.work_seconds = seconds.work;
  cost.transfer_seconds = seconds.transfer;
  cost.one_core_seconds = seconds.total();
  const double busy = cost.one_core_seconds - seconds.launch;
  // Seconds for which all cores together keep a shared level busy.
  double shared_seconds = 0;
  for (int i = 0; i < private_; ++i)
    shared_seconds =
        std::max(shared_seconds,
                 cost.levels[i].read / AllReadBytesPerS(levels_[i]) +
                     cost.levels[i].written / AllWriteBytesPerS(levels_[i]));
  cost.seconds =
      std::max(busy / cores * uneven, shared_seconds) + seconds.launch;
  cost.core_seconds = (cost.one_core_seconds + cores * cost.seconds) / 2 *
                      (1 + kCrowding * static_cast<double>(cost.scratch_bytes) /
                               CapacityBytes(levels_[private_]));
  if (key_ == CostKey::kTraffic) OnlyTraffic(cost);
}

// As if arithmetic, tasks and the levels apart took no time; of equal traffic
// the shorter time is better.
void GroupEvaluator::OnlyTraffic(GroupCost& cost) const {
  cost.core_seconds = kTieShare * cost.core_seconds +
                      FarBytes(cost) / ReadBytesPerS(levels_.front());
  cost.one_core_seconds = cost.transfer_seconds = cost.core_seconds;
  cost.work_seconds = 0;
  cost.seconds = cost.core_seconds / static_cast<double>(spec_.unit().cores());
}

// Tensors are taken to lie where they would if no time passed, and groups
// without tiles to be computed in one: good enough to tell what is old.
std::vector<double> GroupEvaluator::GroupSeconds(const Plan& plan) const {
  const double cores =
      static_cast<double>(std::max<int64_t>(1, spec_.unit().cores()));
  std::vector<double> seconds;
  for (Group group : plan.groups) {
    if (group.tile_plan.tile.empty()) {
      group.tile_plan.tile = graph_.tensor(group.output).static_shape();
      group.tile_plan.stages = ExpectedStages(graph_, group, 0);
    }
    const absl::StatusOr<KernelFeatures> features = Features(group);
    seconds.push_back(features.ok() ? timer_.Of(*features).total() / cores : 0);
  }
  return seconds;
}

}  // namespace tilewright
