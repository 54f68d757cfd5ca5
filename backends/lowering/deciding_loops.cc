#include "backends/lowering/deciding_loops.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "tilegraph/expr_vars.h"
#include "tilegraph/simplify.h"

namespace tilewright::lowering {

int LoopThatRolls(const sketch::Block& block, const LoopsAroundBlock& loops) {
  const Expr moves =
      ToLinear(block.bindings[block.rolling->dim] - block.rolling->from,
               [](int) { return std::nullopt; })
          .ToExpr();
  int deciding = block.rolling->loop_var;
  for (const sketch::Loop* loop : loops) {
    if (loop->extent == 1 || !Mentions(moves, loop->var)) continue;
    if (loop->kind == sketch::LoopKind::kTile) return -1;
    deciding = loop->var;
  }
  return deciding;
}

int LoopThatSkips(const Expr& condition, const sketch::Block& block,
                  const LoopsAroundBlock& loops) {
  // Inside the outermost loop that carries the reduction the first value is
  // set.
  const auto carries = [&](const sketch::Loop* loop) {
    return std::any_of(
        block.bindings.begin() + static_cast<std::ptrdiff_t>(block.axes.size()),
        block.bindings.end(),
        [&](const Expr& binding) { return Mentions(binding, loop->var); });
  };
  const auto outermost = std::find_if(loops.begin(), loops.end(), carries);
  for (auto it = loops.end(); it != outermost;) {
    const sketch::Loop& loop = **--it;
    if (loop.body.size() != 1) return -1;
    if (loop.extent == 1 || !Mentions(condition, loop.var)) continue;
    return loop.kind == sketch::LoopKind::kSerial ? loop.var : -1;
  }
  return -1;
}

}  // namespace tilewright::lowering
