// How each tile operation is cut into vectors, and which register buffers
// really become registers. Internal to legalize.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_VECTOR_PLAN_H_
#define TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_VECTOR_PLAN_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/tile/kernel_ranges.h"
#include "backends/lowering/vectorize/access_cost.h"
#include "backends/lowering/vectorize/lane_reduction.h"
#include "backends/lowering/vectorize/vector_target.h"

namespace tilewright::lowering {

// A buffer held in registers: one variable for `lanes` neighbours along `dim`
// (dim -1: one for every element).
struct RegisterPlan {
  int dim = -1;
  int lanes = 1;
};

struct VectorPlan {
  std::map<const kernel_ir::TileOp*, OpPlan> ops;
  std::map<int, RegisterPlan> registers;  // by buffer id; others live in memory
  // Register buffers whose vectors may hold elements that one operation writes
  // and another, of another extent, must leave alone.
  std::set<int> merged;
  std::set<int> constant_vars;  // loop and box variables that pick registers:
                                // their loops are unrolled
  // Loops over the lanes of vectors; they are not unrolled.
  std::map<const kernel_ir::For*, LaneReduction> lane_reductions;
  std::vector<std::string> demoted;  // names of register buffers that do not
};

// Picks for every operation the box axis along which its accesses cost least,
// and another that makes blocks with it where accesses are contiguous along
// that one, so that all operations on one register buffer agree; where they
// cannot, or a register buffer's elements are not told apart by constants, the
// buffer is demoted to memory.
VectorPlan PlanVectors(const kernel_ir::Kernel& kernel,
                       const KernelRanges& ranges, const VectorTarget& target);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_VECTOR_PLAN_H_
