// Which loop around a block decides whether a condition of the block holds:
// where it fails, nothing of that loop's body need run. Internal to lowering.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_TILE_DECIDING_LOOPS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_TILE_DECIDING_LOOPS_H_

#include <vector>

#include "sketch/tree/block_tree.h"

namespace tilewright::lowering {

// `loops`: around the block, outermost first.
using LoopsAroundBlock = std::vector<const sketch::Loop*>;

// The part of its region that a rolling block skips because it was computed
// before.
struct RollingGuard {
  int loop_var;  // of the loop that decides last; -1: every element does
  Expr holds;    // over loop variables: where anything is computed
};

// Where a tile holds what is new beside what is not, its loop decides for all
// of it if others stand in that loop too (sums of a row, which nothing else
// would leave out), or if little is computed again (RolledPart::FitsTiles):
// that gives what is there.
RollingGuard GuardOfRolling(const sketch::Block& block,
                            const LoopsAroundBlock& loops);

// For a reduction, the variable of the innermost loop that `condition`, over
// loop variables, speaks of, if nothing but steps of the block stands inside;
// -1 if there is none (the first value is set there too, another block is), or
// if steps are laid out side by side (tiles, unrolled loops), which need not
// agree.
int LoopThatSkips(const Expr& condition, const sketch::Block& block,
                  const LoopsAroundBlock& loops);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_TILE_DECIDING_LOOPS_H_
