// Decisions that only lowering can resolve. Their preferred answer is "auto",
// which leaves them to it and writes nothing.
//
//   unroll    copies in a row of the body of a tile's innermost reduce loop
//   prefetch  steps of that loop that the update brings what it reads closer
//             ahead of its use; "none"; "tile": it brings what the next
//             register tile reads
//   stream    whether stores of what the kernel returns go past the caches,
//             where they are whole vectors
//
// But where what is read comes from beyond the private cache, a rule may prefer
// another "prefetch", and a fused group (compute_location.h) "stream" where
// inputs and outputs fill the outermost one.
#ifndef TILEWRIGHT_SKETCH_RULES_SHARED_ANNOTATIONS_H_
#define TILEWRIGHT_SKETCH_RULES_SHARED_ANNOTATIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/trace/schedule.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

// Whether a kernel's input exceeds the private cache of a core: the kernel
// before has left at most its end there.
bool IsFar(const Tensor& input, const DeviceSpec& spec);

// "unroll" and "prefetch" of a serial loop directly around the loops of a
// register tile. `tiles`: the loop over register tiles around it, if there is
// one; `prefetch`: the option preferred, "auto" in place of "tile" without it.
void DecideReduceAnnotations(Decider& decider, ScheduleWriter& writer,
                             Handle loop, std::optional<Handle> tiles = {},
                             const std::string& prefetch = "auto");

// The "prefetch" of a loop whose steps read so many bytes each, one after
// another, of what is far away: hardware follows no stream beyond its page, so
// a page ahead.
std::string PrefetchOfAPage(int64_t step_bytes);

// "prefetch" of such a loop where every step reads the next vectors of one long
// run, the packed operand: hardware keeps too short a distance from it where
// it comes from beyond the private cache (`far`), and 32 steps, of a few
// vectors each, are preferred.
void DecideRunPrefetch(Decider& decider, ScheduleWriter& writer, Handle loop,
                       bool far);

// "unroll" alone.
void DecideUnroll(Decider& decider, ScheduleWriter& writer, Handle loop);

// Whether what a kernel of `graph` reads, and as much that it writes into
// `output`, pushes the beginning of `output` out of all caches before it ends.
bool FillsCaches(const TensorGraph& graph, TensorId output,
                 const DeviceSpec& spec);

// "stream" of these outputs of the graph, if they exceed the innermost cache
// together: what is smaller is still there when it is read next. `far`: they
// are not there even if they are smaller than the outermost one, "yes" is
// preferred. Returns whether it was taken. REQUIRES: no loop of theirs is
// written yet.
bool DecideStreaming(Decider& decider, ScheduleWriter& writer,
                     const TensorGraph& graph,
                     absl::Span<const TensorId> outputs, const DeviceSpec& spec,
                     bool far = false);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_SHARED_ANNOTATIONS_H_
