#include "backends/lowering/vectorize/block_plan.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backends/lowering/tile/tile_rewrite.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::lowering {

using kernel_ir::Level;
using kernel_ir::TileOp;

namespace {

int PowerOfTwoAtLeast(int64_t n) {
  int p = 1;
  while (p < n) p *= 2;
  return p;
}

}  // namespace

bool BlockPlanner::MapsMemory(const TileOp& op) const {
  const auto in_registers = [&](int buffer) {
    return kernel_.buffers[buffer].level == Level::kRegisters;
  };
  if (op.phase != TileOp::Phase::kMap ||
      std::any_of(op.dst.begin(), op.dst.end(), in_registers))
    return false;
  bool reads_registers = false;
  for (const Expr& body : op.body) {
    VisitLoads(body, [&](const Expr& load, const std::vector<Expr>&) {
      reads_registers = reads_registers || in_registers(load.source());
    });
  }
  return !reads_registers;
}

BlockPlan BlockPlanner::Best(const TileOp& op) {
  return Best(OpAccesses(kernel_, op, target_.vector_bytes));
}

BlockPlan BlockPlanner::BestOfDecided(const TileOp& op) {
  OpAccesses accesses(kernel_, op, target_.vector_bytes);
  for (TileAccess& access : accesses.accesses)
    access.conditions = Conjuncts(op.predicate);
  return Best(accesses);
}

BlockPlan BlockPlanner::Best(const OpAccesses& accesses) {
  const TileOp& op = *accesses.op;
  const int rank = static_cast<int>(op.box.size());
  OpPlan best;
  double least = costs_.Cost(accesses, best);
  for (int axis = rank - 1; axis >= 0; --axis) {
    const int64_t extent = op.box[axis].extent;
    if (extent == 1 ||
        std::none_of(op.index.begin(), op.index.end(), [&](const Expr& i) {
          return Mentions(i, op.box[axis].var);
        }))
      continue;
    OpPlan plan;
    plan.axis = axis;
    plan.lanes = static_cast<int>(
        std::min<int64_t>(accesses.natural_lanes, PowerOfTwoAtLeast(extent)));
    if (plan.lanes == 1) continue;
    const double vectors_per_element =
        static_cast<double>((extent + plan.lanes - 1) / plan.lanes) /
        static_cast<double>(extent);
    for (int row = -1; row < rank; ++row) {
      plan.row = row;
      plan.rows = row < 0 ? 1 : costs_.MaxRows(accesses, row);
      if (row == axis || plan.rows == 0) continue;
      const double cost = costs_.Cost(accesses, plan) * vectors_per_element;
      if (cost >= least) continue;
      least = cost;
      best = plan;
    }
  }
  return {best, least};
}

}  // namespace tilewright::lowering
