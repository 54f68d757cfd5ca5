// Replay, one instruction at a time: what Replay and everything that writes
// schedules by trial is made of. Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_REPLAY_REPLAYER_H_
#define TILEWRIGHT_SKETCH_REPLAY_REPLAYER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sketch/replay/winograd_form.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "sketch/tree/block_tree.h"
#include "sketch/tree/tree_edit.h"

namespace tilewright::sketch {

// The block or loop that a handle stands for. Blocks are found by name and
// loops by variable, so a handle to what an instruction removed is noticed.
struct HandleValue {
  enum class Kind : uint8_t { kBlock, kLoop };
  static HandleValue OfBlock(std::string name) {
    return {Kind::kBlock, std::move(name), -1};
  }
  static HandleValue OfLoop(int var) { return {Kind::kLoop, "", var}; }

  Kind kind;
  std::string block;
  int var;
};

class Replayer {
 public:
  // `workload` must outlive this.
  static absl::StatusOr<Replayer> Create(const Workload& workload);
  Replayer Clone() const;

  // Applies one instruction. After an error the tree is in no useful state.
  // Errors name the reason, not the instruction.
  absl::Status Apply(const Instruction& instruction);
  // Checks the finished tree: with task loops, every block stands inside all of
  // them; every buffer that is read was written before; loops that threads share
  // pass CheckThreads. Buffers are then of the workload that was given, whatever
  // form it took.
  absl::Status Finish();

  BlockTree& tree() { return tree_; }
  // As the form it took has it.
  const Workload& workload() const { return *workload_; }
  const std::vector<HandleValue>& handles() const { return handles_; }

  // For the primitives.
  absl::StatusOr<std::string> BlockName(Handle handle) const;
  absl::StatusOr<Path> FindBlockOf(Handle handle);
  absl::StatusOr<Path> FindLoopOf(Handle handle);
  int NewVar() { return tree_.num_vars++; }
  // Whether there were no instructions but `block`.
  bool is_initial() const { return is_initial_; }
  // Begins anew with the tree of that form. REQUIRES: is_initial().
  absl::Status Become(WinogradForm form);

 private:
  Replayer(const Workload& workload, BlockTree tree)
      : workload_(&workload), tree_(std::move(tree)) {}

  const Workload* workload_;
  BlockTree tree_;
  std::vector<HandleValue> handles_;
  bool is_initial_ = true;
  std::shared_ptr<const WinogradForm> form_;  // that workload_ is of, if any
};

// The parameters of one instruction, checked for number. Each primitive returns
// the values of its results.
struct Arguments {
  const std::vector<Handle>& operands;
  const std::vector<Factors>& factors;
  const std::string& text;
};
using Results = std::vector<HandleValue>;

// primitives_select.cc
absl::StatusOr<Results> ApplyBlock(Replayer& replayer, const Arguments& args);
absl::StatusOr<Results> ApplyLoop(Replayer& replayer, const Arguments& args);
// primitives_loops.cc
absl::StatusOr<Results> ApplySplit(Replayer& replayer, const Arguments& args);
absl::StatusOr<Results> ApplyFuse(Replayer& replayer, const Arguments& args);
absl::StatusOr<Results> ApplyReorder(Replayer& replayer, const Arguments& args);
// primitives_annotate.cc
absl::StatusOr<Results> ApplyAnnotate(Replayer& replayer,
                                      const Arguments& args);
absl::StatusOr<Results> ApplyTensorize(Replayer& replayer,
                                       const Arguments& args);
absl::StatusOr<Results> ApplySetLayout(Replayer& replayer,
                                       const Arguments& args);
absl::StatusOr<Results> ApplySetLevel(Replayer& replayer,
                                      const Arguments& args);
// primitives_tile.cc
absl::StatusOr<Results> ApplyGroupTile(Replayer& replayer,
                                       const Arguments& args);
// primitives_attach.cc
absl::StatusOr<Results> ApplyComputeAt(Replayer& replayer,
                                       const Arguments& args);
absl::StatusOr<Results> ApplyReverseComputeAt(Replayer& replayer,
                                              const Arguments& args);
// primitives_inline.cc
absl::StatusOr<Results> ApplyComputeInline(Replayer& replayer,
                                           const Arguments& args);
absl::StatusOr<Results> ApplyReverseComputeInline(Replayer& replayer,
                                                  const Arguments& args);
// primitives_cache.cc
absl::StatusOr<Results> ApplyCacheRead(Replayer& replayer,
                                       const Arguments& args);
absl::StatusOr<Results> ApplyCacheWrite(Replayer& replayer,
                                        const Arguments& args);
// primitives_rolling.cc
absl::StatusOr<Results> ApplyRolling(Replayer& replayer, const Arguments& args);
// primitives_factor.cc
absl::StatusOr<Results> ApplyFactorOut(Replayer& replayer,
                                       const Arguments& args);
// primitives_update.cc
absl::StatusOr<Results> ApplyRollingUpdate(Replayer& replayer,
                                           const Arguments& args);
// primitives_winograd.cc
absl::StatusOr<Results> ApplyWinograd(Replayer& replayer,
                                      const Arguments& args);
// primitives_zeros.cc
absl::StatusOr<Results> ApplySkipZeros(Replayer& replayer,
                                       const Arguments& args);
// primitives_bind.cc
absl::StatusOr<Results> ApplyBind(Replayer& replayer, const Arguments& args);
// primitives_rfactor.cc
absl::StatusOr<Results> ApplyRFactor(Replayer& replayer, const Arguments& args);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_REPLAY_REPLAYER_H_
