#include "backends/lowering/tile/kernel_ranges.h"

#include <algorithm>

namespace tilewright::lowering {

using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Stmt;
using kernel_ir::TileAxis;
using kernel_ir::TileOp;

namespace {

using OpCallback =
    std::function<void(const TileOp&, const std::vector<const For*>&)>;

void Walk(const std::vector<Stmt>& stmts, std::vector<const For*>& loops,
          const OpCallback& fn) {
  for (const Stmt& stmt : stmts) {
    if (const auto* loop = std::get_if<For>(&stmt.node)) {
      loops.push_back(loop);
      Walk(loop->body, loops, fn);
      loops.pop_back();
    } else if (const auto* branch = std::get_if<If>(&stmt.node)) {
      Walk(branch->then_body, loops, fn);
      Walk(branch->else_body, loops, fn);
    } else {
      fn(std::get<TileOp>(stmt.node), loops);
    }
  }
}

using LoadCallback = std::function<void(const Expr&, const std::vector<Expr>&)>;

void Walk(const Expr& expr, std::vector<Expr>& conditions,
          const LoadCallback& fn) {
  for (size_t i = 0; i < expr.operands().size(); ++i) {
    const bool branch = expr.op() == Op::kSelect && i > 0;
    if (branch) conditions.push_back(expr.operand(0));
    Walk(expr.operand(static_cast<int>(i)), conditions, fn);
    if (branch) conditions.pop_back();
  }
  if (expr.op() == Op::kLoad) fn(expr, conditions);
}

}  // namespace

void VisitOps(const std::vector<Stmt>& stmts, const OpCallback& fn) {
  std::vector<const For*> loops;
  Walk(stmts, loops, fn);
}

KernelRanges::KernelRanges(const kernel_ir::Kernel& kernel)
    : extents_(kernel.num_vars, 1) {
  VisitOps(kernel.body,
           [&](const TileOp& op, const std::vector<const For*>& around) {
             for (const For* loop : around) extents_[loop->var] = loop->extent;
             for (const TileAxis& axis : op.box)
               extents_[axis.var] = axis.extent;
           });
}

RangeOf KernelRanges::ranges(int64_t chunk_extent, int64_t lane_extent) const {
  return [this, chunk_extent, lane_extent](int var) -> std::optional<Range> {
    if (var == chunk_var()) return Range{0, chunk_extent - 1};
    if (var == lane_var()) return Range{0, lane_extent - 1};
    if (var < 0 || var > lane_var()) return std::nullopt;
    return Range{0, extents_[var] - 1};
  };
}

Expr SplitLane(const Expr& expr, int axis_var, int lanes,
               const KernelRanges& ranges) {
  return Substitute(expr, [&](int var) -> Expr {
    if (var != axis_var) return Expr();
    return Expr::Var(ranges.chunk_var(), "chunk") * Expr::Int(lanes) +
           Expr::Var(ranges.lane_var(), "lane");
  });
}

std::optional<std::vector<int64_t>> LaneDistances(const Expr& index,
                                                  int lane_var, int lanes,
                                                  const RangeOf& ranges) {
  std::vector<int64_t> distances;
  LinearForm first;
  for (int lane = 0; lane < lanes; ++lane) {
    LinearForm form =
        ToLinear(Substitute(index,
                            [&](int var) {
                              return var == lane_var ? Expr::Int(lane) : Expr();
                            }),
                 ranges);
    if (lane == 0) first = form;
    if (form.terms != first.terms) return std::nullopt;
    distances.push_back(form.constant - first.constant);
  }
  return distances;
}

void VisitLoads(const Expr& expr, const LoadCallback& fn) {
  std::vector<Expr> conditions;
  Walk(expr, conditions, fn);
}

}  // namespace tilewright::lowering
