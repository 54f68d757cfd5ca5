#include "backends/lowering/vectorize/cut_blocks.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "backends/lowering/tile/tile_rewrite.h"
#include "backends/lowering/vectorize/access_cost.h"
#include "backends/lowering/vectorize/block_plan.h"

namespace tilewright::lowering {

using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Kernel;
using kernel_ir::Stmt;
using kernel_ir::TileAxis;
using kernel_ir::TileOp;

namespace {

class Cutter {
 public:
  Cutter(Kernel& kernel, const VectorTarget& target)
      : kernel_(kernel), planner_(kernel, target) {}

  std::vector<Stmt> Process(std::vector<Stmt> stmts) {
    std::vector<Stmt> out;
    for (Stmt& stmt : stmts) {
      if (auto* loop = std::get_if<For>(&stmt.node)) {
        loop->body = Process(std::move(loop->body));
      } else if (auto* branch = std::get_if<If>(&stmt.node)) {
        branch->then_body = Process(std::move(branch->then_body));
        branch->else_body = Process(std::move(branch->else_body));
      } else if (const std::optional<OpPlan> plan =
                     BlocksOf(std::get<TileOp>(stmt.node))) {
        TileOp& op = std::get<TileOp>(stmt.node);
        std::map<int, int64_t> blocks = {{op.box[plan->axis].var, plan->lanes},
                                         {op.box[plan->row].var, plan->rows}};
        Nest(std::move(op), 0, blocks, out);
        continue;
      }
      out.push_back(std::move(stmt));
    }
    return out;
  }

 private:
  // The cheapest way to cut the box, if it has blocks and more than one.
  std::optional<OpPlan> BlocksOf(const TileOp& op) {
    if (!planner_.MapsMemory(op)) return std::nullopt;
    const OpPlan best = planner_.Best(op).cut;
    if (best.row < 0 || (op.box[best.axis].extent <= best.lanes &&
                         op.box[best.row].extent <= best.rows))
      return std::nullopt;
    return best;
  }

  // Loops over the axes of the box from number `next` on; blocks of those that
  // are in `blocks` stay in the box.
  void Nest(TileOp op, size_t next, const std::map<int, int64_t>& blocks,
            std::vector<Stmt>& out) {
    if (next == op.box.size()) {
      out.push_back({std::move(op)});
      return;
    }
    const TileAxis axis = op.box[next];
    const auto block = blocks.find(axis.var);
    if (block == blocks.end()) {
      op.box.erase(op.box.begin() + static_cast<std::ptrdiff_t>(next));
      For loop;
      loop.var = axis.var;
      loop.name = axis.name;
      loop.extent = axis.extent;
      Nest(std::move(op), next, blocks, loop.body);
      out.push_back({std::move(loop)});
      return;
    }
    const int64_t size = block->second, full = axis.extent / size;
    const int64_t tail = axis.extent % size;
    if (full > 0) {
      TileOp part = op;
      part.box[next].extent = size;
      if (full == 1) {
        Nest(std::move(part), next + 1, blocks, out);
      } else {
        For loop;
        loop.var = kernel_.num_vars++;
        loop.name = axis.name;
        loop.extent = full;
        const Expr outer = Expr::Var(loop.var, loop.name) * Expr::Int(size);
        std::vector<Stmt> whole = {Stmt{std::move(part)}};
        SubstituteStmts(whole,
                        {{axis.var, outer + Expr::Var(axis.var, axis.name)}});
        Nest(std::move(std::get<TileOp>(whole[0].node)), next + 1, blocks,
             loop.body);
        out.push_back({std::move(loop)});
      }
    }
    if (tail == 0) return;
    op.box[next].extent = tail;
    ShiftVar(op, axis, full * size);
    std::vector<Stmt> rest;
    Nest(std::move(op), next + 1, blocks, rest);
    // Variables are defined once.
    for (Stmt& stmt : CloneStmts(rest, {}, kernel_.num_vars))
      out.push_back(std::move(stmt));
  }

  Kernel& kernel_;
  BlockPlanner planner_;
};

}  // namespace

void CutBlocks(Kernel& kernel, const VectorTarget& target) {
  kernel.body = Cutter(kernel, target).Process(std::move(kernel.body));
}

}  // namespace tilewright::lowering
