// Replays a schedule on a workload. The only way from a Schedule to code.
#ifndef TILEWRIGHT_SKETCH_REPLAY_H_
#define TILEWRIGHT_SKETCH_REPLAY_H_

#include "absl/status/statusor.h"
#include "sketch/block_tree.h"
#include "sketch/schedule.h"
#include "sketch/workload.h"

namespace tilewright::sketch {

// The tree with no instruction applied: one nest per compute, in order, spatial loops outside reduce loops; boundary tensors are kGlobal
// buffers (in order: placeholders, constants, outputs), everything else kScratch. A reduction whose accumulator dtype or arity differs
// from its tensor's gets local accumulators and a copy out.
absl::StatusOr<BlockTree> InitialTree(const Workload& workload);

// InvalidArgument names the instruction ("#4 split: ...") and the reason; FailedPrecondition an open decision. Never a crash, whatever the
// trace holds. Unimplemented for what the design names and nobody built yet.
absl::StatusOr<BlockTree> Replay(const Workload& workload, const Schedule& schedule);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_REPLAY_H_
