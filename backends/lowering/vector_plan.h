// How each tile operation is cut into vectors, and which register buffers
// really become registers. Internal to legalize.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_VECTOR_PLAN_H_
#define TILEWRIGHT_BACKENDS_LOWERING_VECTOR_PLAN_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/lane_reduction.h"
#include "backends/lowering/vector_target.h"
#include "tilegraph/simplify.h"

namespace tilewright::lowering {

// Ranges of all variables of a kernel, each of which is defined once.
class KernelRanges {
 public:
  explicit KernelRanges(const kernel_ir::Kernel& kernel);
  int64_t extent(int var) const { return extents_[var]; }
  // `lane_extent`, `chunk_extent`: of the two variables beyond the kernel's
  // own.
  RangeOf ranges(int64_t chunk_extent = 1, int64_t lane_extent = 1) const;
  int chunk_var() const { return static_cast<int>(extents_.size()); }
  int lane_var() const { return chunk_var() + 1; }

 private:
  std::vector<int64_t> extents_;
};

struct OpPlan {
  int axis = -1;  // of the box; -1: one element at a time
  int lanes = 1;
};

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

// Picks for every operation the box axis along which most of its accesses are
// contiguous, so that all operations on one register buffer agree; where they
// cannot, or a register buffer's elements are not told apart by constants, the
// buffer is demoted to memory.
VectorPlan PlanVectors(const kernel_ir::Kernel& kernel,
                       const KernelRanges& ranges, const VectorTarget& target);

// The index of an element along the vector axis as chunk · lanes + lane.
Expr SplitLane(const Expr& expr, int axis_var, int lanes,
               const KernelRanges& ranges);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_VECTOR_PLAN_H_
