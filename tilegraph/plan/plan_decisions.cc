#include "tilegraph/plan/plan_decisions.h"

#include <cstdint>

namespace tilewright {
namespace {

constexpr int kBlocks[] = {8, 16};
constexpr int64_t kShortVectorBytes = 32;

}  // namespace

PlanOptions DecidePlan(const PlanOptions& options, const DeviceSpec& spec,
                       Decider& decider) {
  PlanOptions decided = options;
  if (!decided.channel_block) {
    decided.channel_block = kBlocks[decider.DecideNumber(
        "channel.block", Space::OneOf({"8", "16"}),
        [&] { return spec.unit().vector_bytes() <= kShortVectorBytes ? 0 : 1; },
        Bits::kMayChange)];
  }
  return decided;
}

}  // namespace tilewright
