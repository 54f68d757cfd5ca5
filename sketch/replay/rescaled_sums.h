// Sums that follow a reduction which is kept as far as it has come, in a loop
// over blocks of its steps (rolling_update). Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_REPLAY_RESCALED_SUMS_H_
#define TILEWRIGHT_SKETCH_REPLAY_RESCALED_SUMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sketch/replay/online_reduction.h"
#include "sketch/tree/block_region.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::sketch {

struct RunningResult {
  std::string name;  // of its block
  Combiner combiner;
  Block partial;  // of one block of steps; that is its last spatial axis
  int buffer;
  int loop_var;
  int64_t steps;  // in the end
  std::vector<HeldDim> held;
  std::vector<std::string> readers;  // blocks in the loop
};

// The correction of sums so far, and the values that it uses.
struct Rescaling {
  const RescalingRule* rule = nullptr;
  int correction = -1;  // buffer
};

// Makes every sum of the loop that hangs on the result follow it, and what
// reads those behind the loop. InvalidArgument: one of them has no rescaling,
// or something is made of a result that is not final.
absl::StatusOr<Rescaling> RescaleSums(BlockTree& tree, const RunningResult& of);

// The axes as expressions.
std::vector<Expr> AxisVars(const std::vector<Axis>& axes);
// A buffer in scratch for what `held` says; its id.
int AddScratch(BlockTree& tree, const std::string& name, DType dtype,
               const std::vector<HeldDim>& held);
bool Reads(const Block& block, int buffer);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_REPLAY_RESCALED_SUMS_H_
