// Replays a schedule on a workload. The only way from a Schedule to code.
#ifndef TILEWRIGHT_SKETCH_REPLAY_REPLAY_H_
#define TILEWRIGHT_SKETCH_REPLAY_REPLAY_H_

#include "absl/status/statusor.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::sketch {

// InvalidArgument names the instruction ("#4 split: ...") and the reason;
// FailedPrecondition an open decision. Never a crash, whatever the trace holds.
// Unimplemented for what the design names and nobody built yet.
absl::StatusOr<BlockTree> Replay(const Workload& workload,
                                 const Schedule& schedule);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_REPLAY_REPLAY_H_
