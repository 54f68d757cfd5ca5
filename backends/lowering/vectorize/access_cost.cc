#include "backends/lowering/vectorize/access_cost.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "backends/kernel_ir/scalar_ir.h"
#include "backends/lowering/lanes/block_access.h"
#include "backends/lowering/tile/tile_rewrite.h"
#include "backends/lowering/vectorize/byte_table.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/ir/intrinsics.h"

namespace tilewright::lowering {

using kernel_ir::Kernel;
using kernel_ir::TileAxis;
using kernel_ir::TileOp;

namespace {

// Vector operations that read a table of bytes.
constexpr double kPermutes = 4;

bool MentionedIn(const std::vector<Expr>& conditions, int var) {
  return std::any_of(conditions.begin(), conditions.end(),
                     [var](const Expr& e) { return Mentions(e, var); });
}

}  // namespace

int64_t RegisterBytes(DType element) {
  return SizeBytes(kernel_ir::RegisterType(element));
}

int MaxLanes(const VectorTarget& target, DType element) {
  return static_cast<int>(target.vector_bytes /
                          std::max<int64_t>(4, RegisterBytes(element)));
}

double CostOneByOne(int elements, bool is_store) {
  return elements * (is_store ? 3 : 1.5);
}

OpAccesses::OpAccesses(const Kernel& kernel, const TileOp& tile_op,
                       int vector_bytes)
    : op(&tile_op) {
  // Arithmetic is done, and indices compared, on 4 bytes; what only moves may
  // fill vectors with less.
  const auto in_memory = [&](int buffer) {
    return kernel.buffers[buffer].level != kernel_ir::Level::kRegisters;
  };
  const bool moves =
      tile_op.phase == TileOp::Phase::kMap && in_memory(tile_op.dst[0]) &&
      tile_op.body[0].op() == Op::kLoad && in_memory(tile_op.body[0].source());
  int64_t bytes = moves ? 1 : 4;
  const std::vector<Expr> predicate = Conjuncts(tile_op.predicate);
  const auto add = [&](int buffer, std::vector<Expr> index, bool is_store,
                       std::vector<Expr> conditions) {
    bytes = std::max(bytes, RegisterBytes(kernel.buffers[buffer].dtype));
    conditions.insert(conditions.end(), predicate.begin(), predicate.end());
    accesses.push_back(
        {buffer, std::move(index), is_store, std::move(conditions)});
  };
  for (int dst : tile_op.dst) add(dst, tile_op.index, true, {});
  for (const Expr& body : tile_op.body) {
    VisitLoads(body, [&](const Expr& load, const std::vector<Expr>& around) {
      add(load.source(), {load.operands().begin(), load.operands().end()},
          false, around);
    });
    Visit(body, [&](const Expr& e) {
      if (!e.operands().empty() && e.op() != Op::kLoad &&
          e.dtype() != DType::kInt64)
        arithmetic += 1;
    });
  }
  natural_lanes = std::max<int64_t>(1, vector_bytes / bytes);
}

int AccessCosts::MaxRows(const OpAccesses& op, int row) const {
  // A block waits in registers, and so does what becomes of it.
  const int64_t held =
      std::min(target_.registers / 2, target_.max_unrolled_vectors);
  const int64_t rows = std::min(op.op->box[row].extent, held);
  return rows < 2 ? 0 : static_cast<int>(rows);
}

// Per row of the block.
double AccessCosts::Block(const TileAccess& access, int lanes,
                          const BlockOffsets& offsets) const {
  const DType dtype = kernel_.buffers[access.buffer].dtype;
  const int64_t bytes = RegisterBytes(dtype);
  const int widest = std::max(lanes, MaxLanes(target_, dtype));
  const std::optional<BlockAccess> block =
      access.is_store ? PlanBlockStore(offsets, bytes, widest)
                      : PlanBlockLoad(offsets, bytes, widest);
  const double alone = CostOneByOne(lanes, access.is_store);
  if (!block) return alone;
  return std::min(alone, block->cost() / static_cast<double>(offsets.size()));
}

double AccessCosts::Strided(const TileAccess& access, int rows, int lanes,
                            int active, int64_t row_stride,
                            int64_t lane_stride) {
  const Key key{access.is_store,
                rows,
                lanes,
                active,
                row_stride,
                lane_stride,
                RegisterBytes(kernel_.buffers[access.buffer].dtype)};
  const auto [known, inserted] = strided_.try_emplace(key);
  if (inserted) {
    known->second =
        Block(access, lanes,
              StridedBlock(rows, lanes, active, row_stride, lane_stride));
  }
  return known->second;
}

double AccessCosts::Cost(const OpAccesses& op, const TileAccess& access,
                         const OpPlan& plan) {
  if (plan.axis < 0) return 1;
  const TileAxis& axis = op.op->box[plan.axis];
  const int row_var = plan.row < 0 ? -1 : op.op->box[plan.row].var;
  const int active =
      static_cast<int>(std::min<int64_t>(axis.extent, plan.lanes));
  // Those of whole vectors: a last one that is partly active ends where the
  // axis does, which ranges of all lanes would not know.
  const RangeOf ranges =
      ranges_.ranges(std::max<int64_t>(1, axis.extent / plan.lanes), active);
  std::vector<Expr> index;
  bool varies = false;
  for (const Expr& i : access.index) {
    varies = varies || Mentions(i, axis.var);
    index.push_back(SplitLane(i, axis.var, plan.lanes, ranges_));
  }
  if (!varies) return 1;
  if (target_.permutes_bytes &&
      ByteOfTable(kernel_, access.buffer, access.index))
    return kPermutes;
  const LinearForm offset =
      ToLinear(kernel_.buffers[access.buffer].layout.Offset(index), ranges);
  const int lane_var = ranges_.lane_var();
  const int64_t lane = offset.CoefficientOf(lane_var);
  bool linear = true, row_linear = true;
  for (const auto& [term, coefficient] : offset.terms) {
    if (term.op() == Op::kVar) continue;
    linear = linear && !Mentions(term, lane_var);
    row_linear = row_linear && (row_var < 0 || !Mentions(term, row_var));
  }
  if (!linear) {
    const auto distances =
        LaneDistances(offset.ToExpr(), lane_var, active, ranges);
    if (!distances) return CostOneByOne(plan.lanes, access.is_store);
    BlockOffsets offsets(1, {distances->begin(), distances->end()});
    offsets[0].resize(plan.lanes);
    return Block(access, plan.lanes, offsets);
  }
  // An intrinsic reads the group of each lane.
  const DotIntrinsic* dot = FindDotIntrinsic(op.op->intrinsic);
  if (lane == 1 || (dot != nullptr && lane == dot->group)) return 1;
  double cost = Strided(access, 1, plan.lanes, active, 0, lane);
  const int64_t row = row_var < 0 ? 0 : offset.CoefficientOf(row_var);
  if (row != 0 && row_linear && !MentionedIn(access.conditions, axis.var) &&
      !MentionedIn(access.conditions, row_var)) {
    cost = std::min(cost,
                    Strided(access, plan.rows, plan.lanes, active, row, lane));
  }
  return cost;
}

double AccessCosts::Cost(const OpAccesses& op, const OpPlan& plan) {
  double cost = op.arithmetic;
  for (const TileAccess& access : op.accesses) cost += Cost(op, access, plan);
  return cost;
}

}  // namespace tilewright::lowering
