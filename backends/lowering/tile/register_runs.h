// Which statements of a body have to stay together because values pass from one
// to the next in registers. The others are stages: they meet in memory alone,
// and each may be cut in its own way. Internal to lowering.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_TILE_REGISTER_RUNS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_TILE_REGISTER_RUNS_H_

#include <cstddef>
#include <vector>

#include "backends/kernel_ir/tile_ir.h"

namespace tilewright::lowering {

// Where the shortest runs of `stmts` end (past their last statement) such that
// no register buffer is touched by two of them; the last one is stmts.size().
std::vector<size_t> EndsOfRegisterRuns(
    const std::vector<kernel_ir::Buffer>& buffers,
    const std::vector<kernel_ir::Stmt>& stmts);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_TILE_REGISTER_RUNS_H_
