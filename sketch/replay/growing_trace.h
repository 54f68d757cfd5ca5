// A trace together with the tree that it makes so far: for generators that have
// to know the extents of loops that earlier instructions made.
// Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_REPLAY_GROWING_TRACE_H_
#define TILEWRIGHT_SKETCH_REPLAY_GROWING_TRACE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sketch/replay/replayer.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::sketch {

// A loop around a block.
struct LoopAround {
  std::string name;
  int64_t extent;
  bool is_task;
  bool reduces;  // the block
};

class GrowingTrace {
 public:
  // `workload` must outlive it.
  static absl::StatusOr<GrowingTrace> Create(const Workload& workload);

  // For instructions that must hold; status() is the first one's that does not.
  ScheduleWriter& writer() { return writer_; }
  // Whether what `write` writes replays; if not, it is forgotten.
  bool Try(const std::function<void(ScheduleWriter&)>& write);
  // Replays what was written since.
  const absl::Status& status();

  // As the tree is now; REQUIRES: status().ok().
  std::vector<LoopAround> LoopsOf(const std::string& block);
  BlockTree& tree() { return replayer_.tree(); }
  const Replayer& replayer() const { return replayer_; }
  const Block* FindBlockNamed(const std::string& name);

  absl::StatusOr<Schedule> Finish() &&;

 private:
  explicit GrowingTrace(Replayer replayer) : replayer_(std::move(replayer)) {}

  ScheduleWriter writer_;
  Replayer replayer_;
  size_t replayed_ = 0;  // instructions
  absl::Status status_;
};

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_REPLAY_GROWING_TRACE_H_
