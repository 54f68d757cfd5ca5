#include "backends/lowering/threads/thread_ops.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "backends/lowering/tile/tile_rewrite.h"

namespace tilewright::lowering {

using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Stmt;
using kernel_ir::TileAxis;
using kernel_ir::TileOp;

namespace {

class Collector {
 public:
  void Collect(std::vector<Stmt>& stmts, const ThreadOp& around) {
    for (Stmt& stmt : stmts) {
      ThreadOp in = around;
      if (auto* loop = std::get_if<For>(&stmt.node)) {
        if (loop->kind == For::Kind::kThread) in.nest.push_back(loop);
        if (!in.nest.empty()) in.inside.insert(loop->var);
        extents_[loop->var] = loop->extent;
        Collect(loop->body, in);
      } else if (auto* branch = std::get_if<If>(&stmt.node)) {
        if (!in.nest.empty()) Narrow(branch->condition, true, in);
        Collect(branch->then_body, in);
        in = around;
        if (!in.nest.empty()) Narrow(branch->condition, false, in);
        Collect(branch->else_body, in);
      } else {
        in.op = &std::get<TileOp>(stmt.node);
        for (const TileAxis& axis : in.op->box) in.inside.insert(axis.var);
        ops_.push_back(std::move(in));
      }
    }
  }
  std::vector<ThreadOp> Take() && { return std::move(ops_); }

 private:
  void Narrow(const Expr& condition, bool holds, ThreadOp& op) {
    const std::vector<Expr> conjuncts = Conjuncts(condition);
    for (const Expr& c : conjuncts) {
      const std::optional<VarBound> bound = AsVarBound(c);
      if (!bound || (!holds && conjuncts.size() > 1)) {
        op.conditions.push_back(c);
        continue;
      }
      const auto [found, is_new] =
          op.within.emplace(bound->var, Range{0, extents_[bound->var] - 1});
      Range& range = found->second;
      if (bound->below == holds) {
        range.max = std::min(range.max, bound->bound - 1);
      } else {
        range.min = std::max(range.min, bound->bound);
      }
    }
  }

  std::map<int, int64_t> extents_;  // of loops around
  std::vector<ThreadOp> ops_;
};

}  // namespace

std::vector<ThreadOp> ThreadOps(std::vector<Stmt>& stmts) {
  Collector collector;
  collector.Collect(stmts, ThreadOp());
  return std::move(collector).Take();
}

std::vector<BufferAccess> AccessesOf(const TileOp& op) {
  std::vector<BufferAccess> accesses;
  for (const int dst : op.dst) accesses.push_back({dst, true, op.index});
  for (const Expr& body : op.body) {
    Visit(body, [&](const Expr& e) {
      if (e.op() == Op::kLoad)
        accesses.push_back(
            {e.source(), false, {e.operands().begin(), e.operands().end()}});
    });
  }
  return accesses;
}

bool IsThreadLoop(const Stmt& stmt) {
  const auto* loop = std::get_if<For>(&stmt.node);
  return loop != nullptr && loop->kind == For::Kind::kThread;
}

bool HoldsThreads(const Stmt& stmt) {
  if (IsThreadLoop(stmt)) return true;
  if (const auto* loop = std::get_if<For>(&stmt.node))
    return std::any_of(loop->body.begin(), loop->body.end(), HoldsThreads);
  const auto* branch = std::get_if<If>(&stmt.node);
  return branch != nullptr &&
         (std::any_of(branch->then_body.begin(), branch->then_body.end(),
                      HoldsThreads) ||
          std::any_of(branch->else_body.begin(), branch->else_body.end(),
                      HoldsThreads));
}

}  // namespace tilewright::lowering
