#include "backends/lowering/vectorize/lane_reduction.h"

#include <variant>

#include "backends/lowering/tile/tile_rewrite.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::lowering {

using kernel_ir::For;
using kernel_ir::Kernel;
using kernel_ir::Level;
using kernel_ir::TileOp;

std::optional<LaneReduction> AsLaneReduction(const Kernel& kernel,
                                             const For& loop) {
  if (loop.kind == For::Kind::kTask || loop.kind == For::Kind::kThread ||
      loop.body.size() != 1)
    return std::nullopt;
  const auto* op = std::get_if<TileOp>(&loop.body[0].node);
  if (op == nullptr || op->phase != TileOp::Phase::kUpdate || op->predicate)
    return std::nullopt;
  for (const Expr& index : op->index) {
    if (Mentions(index, loop.var)) return std::nullopt;
  }
  LaneReduction found{op, loop.var, -1};
  for (const Expr& body : op->body) {
    if (body.op() != Op::kLoad) return std::nullopt;
    const kernel_ir::Buffer& source = kernel.buffers[body.source()];
    if (source.level != Level::kRegisters) return std::nullopt;
    int dim = -1;
    for (size_t d = 0; d < body.operands().size(); ++d) {
      const Expr& index = body.operand(static_cast<int>(d));
      if (!Mentions(index, loop.var)) continue;
      if (dim >= 0 || index.op() != Op::kVar) return std::nullopt;
      dim = static_cast<int>(d);
    }
    if (dim < 0 || (found.dim >= 0 && dim != found.dim) ||
        source.layout.shape()[dim] != loop.extent)
      return std::nullopt;
    found.dim = dim;
  }
  return found;
}

}  // namespace tilewright::lowering
