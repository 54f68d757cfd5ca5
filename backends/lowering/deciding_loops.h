// Which loop around a block decides whether a condition of the block holds:
// where it fails, nothing of that loop's body need run. Internal to lowering.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_DECIDING_LOOPS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_DECIDING_LOOPS_H_

#include <vector>

#include "sketch/block_tree.h"

namespace tilewright::lowering {

// `loops`: around the block, outermost first.
using LoopsAroundBlock = std::vector<const sketch::Loop*>;

// Of a rolling block: the variable of the loop that decides last whether it
// computes anything; -1 if its tile does.
int LoopThatRolls(const sketch::Block& block, const LoopsAroundBlock& loops);

// Of a reduction: the variable of the innermost loop that `condition`, over
// loop variables, speaks of, if nothing but steps of the block stands inside;
// -1 if there is none (the first value is set there too, another block is), or
// if steps are laid out side by side (tiles, unrolled loops), which need not
// agree.
int LoopThatSkips(const Expr& condition, const sketch::Block& block,
                  const LoopsAroundBlock& loops);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_DECIDING_LOOPS_H_
