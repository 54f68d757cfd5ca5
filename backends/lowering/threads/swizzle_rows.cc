#include "backends/lowering/threads/swizzle_rows.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/row_swizzle.h"

namespace tilewright::lowering {

using kernel_ir::Buffer;
using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Kernel;
using kernel_ir::Level;
using kernel_ir::Stmt;
using kernel_ir::TileOp;

namespace {

class Swizzler {
 public:
  Swizzler(const Kernel& kernel, const std::set<int>& own)
      : kernel_(kernel), own_(own) {}

  bool Moves(int buffer) const {
    const Buffer& b = kernel_.buffers[buffer];
    return b.level == Level::kScratch && !b.swizzle.none() &&
           own_.count(buffer) == 0;
  }

  void Walk(std::vector<Stmt>& stmts) const {
    for (Stmt& stmt : stmts) {
      if (auto* loop = std::get_if<For>(&stmt.node)) {
        Walk(loop->body);
      } else if (auto* branch = std::get_if<If>(&stmt.node)) {
        Walk(branch->then_body);
        Walk(branch->else_body);
      } else {
        One(std::get<TileOp>(stmt.node));
      }
    }
  }

 private:
  std::vector<Expr> PlaceOf(int buffer, absl::Span<const Expr> index) const {
    const Buffer& b = kernel_.buffers[buffer];
    return b.swizzle.PlaceOf(index, b.layout.shape());
  }

  void One(TileOp& op) const {
    for (Expr& body : op.body) {
      body = Rewrite(body, [&](const Expr& e) {
        return e.op() == Op::kLoad && Moves(e.source())
                   ? Expr::Load(e.source(), e.dtype(),
                                PlaceOf(e.source(), e.operands()))
                   : Expr();
      });
    }
    // Copies have one destination: tuples are not swizzled.
    if (op.dst.size() == 1 && Moves(op.dst[0]))
      op.index = PlaceOf(op.dst[0], op.index);
  }

  const Kernel& kernel_;
  const std::set<int>& own_;
};

}  // namespace

void SwizzleRows(Kernel& kernel, const std::set<int>& own) {
  const Swizzler swizzler(kernel, own);
  const bool any =
      std::any_of(kernel.buffers.begin(), kernel.buffers.end(),
                  [&](const Buffer& b) { return swizzler.Moves(b.id); });
  if (any) swizzler.Walk(kernel.body);
}

}  // namespace tilewright::lowering
