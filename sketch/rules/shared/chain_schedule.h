// The first steps that schedules of a chain with a reduction share.
#ifndef TILEWRIGHT_SKETCH_RULES_SHARED_CHAIN_SCHEDULE_H_
#define TILEWRIGHT_SKETCH_RULES_SHARED_CHAIN_SCHEDULE_H_

#include <string>
#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "sketch/rules/shared/compute_location.h"
#include "sketch/rules/shared/group_chain.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

// The base of the classes that write them. All must outlive it. REQUIRES:
// chain.reduction.
class ChainSchedule {
 protected:
  ChainSchedule(const Workload& workload, const DeviceSpec& spec,
                const Chain& chain, const ComputeLocation& location)
      : workload_(workload),
        graph_(workload.graph),
        spec_(spec),
        chain_(chain),
        location_(location),
        writer_(location.writer),
        output_(graph_.tensor(chain.output)),
        reduction_(graph_.tensor(*chain.reduction)),
        body_(InlinedBody(graph_, *chain.reduction)) {}

  // Inlines what the chain has before and behind it; returns its last block.
  Handle WriteInlines() {
    for (const std::string& block : chain_.inlined)
      writer_.ComputeInline(writer_.Block(block));
    return writer_.Block(chain_.last);
  }

  const Workload& workload_;
  const TensorGraph& graph_;
  const DeviceSpec& spec_;
  const Chain& chain_;
  const ComputeLocation location_;
  ScheduleWriter& writer_;
  const Tensor& output_;
  const Tensor& reduction_;
  const std::vector<Expr> body_;  // of the reduction, prologue inlined
};

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_SHARED_CHAIN_SCHEDULE_H_
