#include "backends/lowering/tile/whole_inits.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "backends/lowering/tile/kernel_ranges.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::lowering {

using kernel_ir::Buffer;
using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Kernel;
using kernel_ir::Level;
using kernel_ir::Stmt;
using kernel_ir::TileOp;

namespace {

class Beginner {
 public:
  explicit Beginner(const Kernel& kernel)
      : buffers_(kernel.buffers), ranges_(kernel) {}

  void Begin(std::vector<Stmt>& stmts) const {
    for (Stmt& stmt : stmts) {
      if (auto* loop = std::get_if<For>(&stmt.node)) {
        Begin(loop->body);
      } else if (auto* branch = std::get_if<If>(&stmt.node)) {
        Begin(branch->then_body);
        Begin(branch->else_body);
      } else {
        TileOp& op = std::get<TileOp>(stmt.node);
        if (op.phase == TileOp::Phase::kInit && IsInRegisters(op) &&
            HasPlaceForAll(op))
          op.predicate = Expr();
      }
    }
  }

 private:
  bool IsInRegisters(const TileOp& op) const {
    return std::all_of(op.dst.begin(), op.dst.end(), [&](int dst) {
      return buffers_[dst].level == Level::kRegisters;
    });
  }

  // Whether no element of the box lies outside of its buffer.
  bool HasPlaceForAll(const TileOp& op) const {
    const std::vector<int64_t>& shape = buffers_[op.dst[0]].layout.shape();
    for (size_t d = 0; d < shape.size(); ++d) {
      const std::optional<Range> range =
          RangeOfExpr(op.index[d], ranges_.ranges());
      if (!range || range->min < 0 || range->max >= shape[d]) return false;
    }
    return true;
  }

  const std::vector<Buffer>& buffers_;
  const KernelRanges ranges_;
};

}  // namespace

void BeginSumsWhole(Kernel& kernel) { Beginner(kernel).Begin(kernel.body); }

}  // namespace tilewright::lowering
