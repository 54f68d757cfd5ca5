// Writes the trace of a sketch: rules write through it, and it replays what
// they wrote, so that they see the loops there are. Every loop that it makes
// has a handle.
//
// It asks these decisions, for a block "T":
//
//   T.at         how many of the loops around all its readers are around it
//   T.parallel   of an output: how many of its outermost loops are tasks. What
//                else the group computes then stands inside of them
//   T.vectors    elements of the innermost loop that are computed together,
//                where it is long
//   T.vectorize  how many of the innermost loops become the tile, where that
//                was not cut to fill the registers
//   T.unroll     steps that are written out at most around the tile (TVM's
//                auto_unroll_max_step)
//   T.rolling    whether an iteration of the loop that T is computed at keeps
//                what the one before has computed (style.roll, where it can)
//   T.pack.W     how a constant that a tiled T reads lies (style.pack)
#ifndef TILEWRIGHT_SKETCH_DERIVATION_DERIVATION_H_
#define TILEWRIGHT_SKETCH_DERIVATION_DERIVATION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sketch/derivation/derivation_style.h"
#include "sketch/derivation/sketch_state.h"
#include "sketch/replay/growing_trace.h"
#include "sketch/trace/schedule.h"
#include "sketch/tree/block_tree.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

// The loops of a block that each run over one whole axis of it there.
struct AxisLoops {
  Handle block = -1;
  std::vector<Handle> spatial, reduce;
  std::vector<int64_t> spatial_extents, reduce_extents;
};

// By axis, the parts of its loop, outermost first; -1 for one that became a
// task loop.
using LoopParts = std::vector<std::vector<Handle>>;

class Derivation {
 public:
  // `state` and `decider` must outlive it.
  static absl::StatusOr<Derivation> Create(const SketchState& state,
                                           const DerivationStyle& style,
                                           Decider& decider);

  const SketchState& state() const { return state_; }
  const DerivationStyle& style() const { return style_; }
  Decider& decider() { return decider_; }
  // Whoever wrote through it calls Replay() before looking at the tree.
  ScheduleWriter& writer() { return trace_.writer(); }
  // InvalidArgument names the instruction that the primitives refuse.
  absl::Status Replay();
  BlockTree& tree() { return trace_.tree(); }

  // The block that computes `id`, and the one that stores it: another one if
  // the accumulators are of another type, or several.
  std::string Block(TensorId id) const;
  std::string StoringBlock(TensorId id);
  // Whether it stores what leaves the group.
  bool Leaves(const std::string& block);
  // A name for decisions.
  static std::string NameOf(const std::string& block);

  // REQUIRES: nothing split the block's loops.
  absl::StatusOr<AxisLoops> LoopsOf(const std::string& block);
  // Handles of its reduce loops, alone.
  std::vector<Handle> ReduceLoops(const std::string& block);
  // The block goes where its readers need it, "T.at"; outputs stay. REQUIRES:
  // its readers are written, what it reads is not.
  absl::Status Place(const std::string& block, bool anywhere);
  // Cuts all spatial loops of a block that was placed, after the outermost
  // parts of an output became tasks, "T.parallel".
  absl::StatusOr<LoopParts> Cut(const std::string& block,
                                const std::vector<Factors>& factors);
  // The output's axes, whole, in tasks of so many elements: Factors [tasks,
  // elements].
  absl::Status MakeTasks(const std::string& block, std::vector<Factors> tiles);
  // The parts of loops.
  LoopParts Split(const std::vector<Handle>& loops,
                  const std::vector<Factors>& factors);
  // Whether what `write` writes replays; if not, it is forgotten.
  bool Try(const std::function<void(ScheduleWriter&)>& write) {
    return trace_.Try(write);
  }
  // The block that a handle is of. REQUIRES: replayed, no loop.
  const std::string& BlockOf(Handle handle) const {
    return trace_.replayer().handles()[handle].block;
  }
  // Puts loops in this order; those that are -1 do not count.
  void Reorder(const std::vector<Handle>& order);
  // The innermost task loop; -1: none.
  Handle task() const { return task_; }
  // Keeps the block's result in registers if one tile holds all of it.
  void PreferRegisters(const std::string& block) {
    in_registers_.insert(block);
  }

  // The block's innermost parts fill the registers: they become its tile as
  // they are.
  void TileWhole(const std::string& block) { tiled_whole_.insert(block); }

  // Decides how the loops of all blocks run.
  absl::Status Annotate();
  absl::StatusOr<Schedule> Finish() &&;

 private:
  Derivation(const SketchState& state, const DerivationStyle& style,
             Decider& decider, GrowingTrace trace)
      : state_(state),
        style_(style),
        decider_(decider),
        trace_(std::move(trace)) {}

  // A handle of the loop; -1: it has none.
  Handle HandleOf(int var) const;
  absl::Status Roll(const std::string& block, Handle loop);
  absl::Status AnnotateBlock(const std::string& block);

  const SketchState& state_;
  const DerivationStyle style_;
  Decider& decider_;
  GrowingTrace trace_;
  std::map<std::string, Handle> blocks_;
  std::set<std::string> in_registers_, tiled_whole_;
  std::vector<std::pair<std::string, Handle>> placed_;  // block, loop
  Handle task_ = -1;
  size_t tasks_ = 0;  // loops
};

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_DERIVATION_DERIVATION_H_
