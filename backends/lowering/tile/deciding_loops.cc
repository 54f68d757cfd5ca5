#include "backends/lowering/tile/deciding_loops.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>

#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::lowering {

namespace {

bool IsTile(const sketch::Loop* loop) {
  return loop->kind == sketch::LoopKind::kTile;
}

// How far the last element of a tile lies behind its first; nullopt if elements
// do not follow each other.
std::optional<int64_t> LengthOfTile(const LinearForm& moves,
                                    const LoopsAroundBlock& loops) {
  int64_t length = 0;
  for (const sketch::Loop* loop : loops) {
    if (!IsTile(loop)) continue;
    for (const auto& [term, coefficient] : moves.terms) {
      if (!Mentions(term, loop->var)) continue;
      if (term.op() != Op::kVar || coefficient < 0) return std::nullopt;
      length += coefficient * (loop->extent - 1);
    }
  }
  return length;
}

// As the last element of a tile has it.
Expr OfLastElement(const Expr& condition, const LoopsAroundBlock& loops) {
  return Substitute(condition, [&](int var) {
    const auto it = std::find_if(
        loops.begin(), loops.end(),
        [&](const sketch::Loop* loop) { return loop->var == var; });
    return it != loops.end() && IsTile(*it) ? Expr::Int((*it)->extent - 1)
                                            : Expr();
  });
}

}  // namespace

RollingGuard GuardOfRolling(const sketch::Block& block,
                            const LoopsAroundBlock& loops) {
  const auto unknown = [](int) { return std::nullopt; };
  const Expr& place = block.bindings[block.rolling->dim];
  const LinearForm moves = ToLinear(place - block.rolling->from, unknown);
  const Expr each = block.RollingCondition();
  const auto decides = [&](const sketch::Loop* loop) {
    return loop->extent > 1 && Mentions(moves.ToExpr(), loop->var);
  };
  const auto tile = std::find_if(
      loops.begin(), loops.end(),
      [&](const sketch::Loop* loop) { return IsTile(loop) && decides(loop); });
  const auto last =
      std::find_if(std::make_reverse_iterator(tile), loops.rend(), decides);
  if (tile == loops.end()) {
    return {last == loops.rend() ? block.rolling->loop_var : (*last)->var,
            each};
  }
  const std::optional<int64_t> length = LengthOfTile(moves, loops);
  if (last == loops.rend() || !length) return {-1, each};
  const bool alone = std::all_of(
      last.base() - 1, loops.end(),
      [](const sketch::Loop* loop) { return loop->body.size() == 1; });
  if (alone && !block.rolling->part.FitsTiles(*length + 1)) return {-1, each};
  return {(*last)->var, OfLastElement(each, loops)};
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
