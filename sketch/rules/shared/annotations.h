// Decisions that only lowering can resolve. Their preferred answer is "auto",
// which leaves them to it and writes nothing.
//
//   unroll    copies in a row of the body of a tile's innermost reduce loop
//   prefetch  steps of that loop that the update brings what it reads closer
//             ahead of its use; "none"
//   stream    whether stores of what the kernel returns go past the caches,
//             where they are whole vectors
#ifndef TILEWRIGHT_SKETCH_RULES_SHARED_ANNOTATIONS_H_
#define TILEWRIGHT_SKETCH_RULES_SHARED_ANNOTATIONS_H_

#include "absl/types/span.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/trace/schedule.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

// "unroll" and "prefetch" of a serial loop directly around the loops of a
// register tile.
void DecideReduceAnnotations(Decider& decider, ScheduleWriter& writer,
                             Handle loop);

// "stream" of these outputs of the graph, if they exceed the innermost cache
// together: what is smaller is still there when it is read next. REQUIRES: no
// loop of theirs is written yet.
void DecideStreaming(Decider& decider, ScheduleWriter& writer,
                     const TensorGraph& graph,
                     absl::Span<const TensorId> outputs,
                     const DeviceSpec& spec);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_SHARED_ANNOTATIONS_H_
