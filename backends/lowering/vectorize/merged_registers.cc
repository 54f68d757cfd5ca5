#include "backends/lowering/vectorize/merged_registers.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "backends/lowering/tile/tile_rewrite.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::lowering {

using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Kernel;
using kernel_ir::Stmt;
using kernel_ir::TileOp;

namespace {

class Stretches {
 public:
  Stretches(const Kernel& kernel, const KernelRanges& ranges,
            const VectorPlan& plan, int buffer)
      : kernel_(kernel), ranges_(ranges), plan_(plan), buffer_(buffer) {}

  // Each stretch of statements that touch the buffer starts with one that sets
  // it, and all of the stretch handle the same elements; or a loop or branch is
  // such by itself, and nothing set before it is read after it.
  bool SelfContained(const std::vector<Stmt>& stmts) const {
    std::optional<Extent> live;
    for (const Stmt& stmt : stmts) {
      const std::vector<Extent> extents = ExtentsIn(stmt);
      if (extents.empty()) continue;
      if (Sets(stmt)) {
        live = extents[0];
        continue;
      }
      if (live &&
          std::all_of(extents.begin(), extents.end(), [&](const Extent& e) {
            return e == *live || e == kOneLane;
          }))
        continue;
      live.reset();
      if (const auto* loop = std::get_if<For>(&stmt.node)) {
        if (!SelfContained(loop->body)) return false;
      } else if (const auto* branch = std::get_if<If>(&stmt.node)) {
        if (!SelfContained(branch->then_body) ||
            !SelfContained(branch->else_body))
          return false;
      } else {
        return false;
      }
    }
    return true;
  }

 private:
  // The elements along the vectorised dimension that an operation handles;
  // kOneLane: it reads single ones.
  struct Extent {
    int64_t first, count;
    bool operator==(const Extent& o) const {
      return first == o.first && count == o.count;
    }
  };
  static constexpr Extent kOneLane = {0, 0};
  std::vector<Extent> ExtentsIn(const Stmt& stmt) const {
    std::vector<Extent> extents;
    const int dim = plan_.registers.at(buffer_).dim;
    auto add = [&](const TileOp& op) {
      const OpPlan& plan = plan_.ops.at(&op);
      auto access = [&](int id, absl::Span<const Expr> index) {
        if (id != buffer_) return;
        const bool vector =
            plan.axis >= 0 && Mentions(index[dim], op.box[plan.axis].var);
        const auto joins = std::find_if(
            plan_.lane_reductions.begin(), plan_.lane_reductions.end(),
            [&](const auto& j) { return j.second.op == &op; });
        const bool joined = joins != plan_.lane_reductions.end() &&
                            Mentions(index[dim], joins->second.var);
        extents.push_back(
            vector   ? Extent{ToLinear(index[dim], ranges_.ranges()).constant,
                            op.box[plan.axis].extent}
            : joined ? Extent{0, kernel_.buffers[buffer_].layout.shape()[dim]}
                     : kOneLane);
      };
      for (int dst : op.dst) access(dst, op.index);
      for (const Expr& body : op.body) {
        Visit(body, [&](const Expr& e) {
          if (e.op() == Op::kLoad) access(e.source(), e.operands());
        });
      }
    };
    VisitStmt(stmt, add);
    return extents;
  }
  static void VisitStmt(const Stmt& stmt,
                        const std::function<void(const TileOp&)>& fn) {
    if (const auto* op = std::get_if<TileOp>(&stmt.node)) fn(*op);
    if (const auto* loop = std::get_if<For>(&stmt.node))
      ForEachOp(loop->body, fn);
    if (const auto* branch = std::get_if<If>(&stmt.node)) {
      ForEachOp(branch->then_body, fn);
      ForEachOp(branch->else_body, fn);
    }
  }

  // Sets the buffer without reading it, unconditionally.
  bool Sets(const Stmt& stmt) const {
    const auto* op = std::get_if<TileOp>(&stmt.node);
    if (op == nullptr || op->phase == TileOp::Phase::kUpdate || op->predicate)
      return false;
    bool reads = false;
    for (const Expr& body : op->body) {
      Visit(body, [&](const Expr& e) {
        reads = reads || (e.op() == Op::kLoad && e.source() == buffer_);
      });
    }
    return !reads &&
           std::find(op->dst.begin(), op->dst.end(), buffer_) != op->dst.end();
  }

  const Kernel& kernel_;
  const KernelRanges& ranges_;
  const VectorPlan& plan_;
  const int buffer_;
};

}  // namespace

bool MustMerge(const Kernel& kernel, const KernelRanges& ranges,
               const VectorPlan& plan, int buffer) {
  return !Stretches(kernel, ranges, plan, buffer).SelfContained(kernel.body);
}

}  // namespace tilewright::lowering
