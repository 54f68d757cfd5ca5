// Estimates what the accesses of one tile operation cost, for each way to cut
// its box into vectors. Internal to legalize.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_ACCESS_COST_H_
#define TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_ACCESS_COST_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/lanes/block_access.h"
#include "backends/lowering/tile/kernel_ranges.h"
#include "backends/lowering/vectorize/vector_target.h"

namespace tilewright::lowering {

// Bytes of a register's element that holds one of a buffer.
int64_t RegisterBytes(DType element);
// Lanes of the widest vector of such elements.
int MaxLanes(const VectorTarget& target, DType element);
// Loading or storing so many elements alone, in vector operations.
double CostOneByOne(int elements, bool is_store);

struct OpPlan {
  int axis = -1;  // of the box; -1: one element at a time
  int lanes = 1;
  // Another axis, `rows` positions of which make a block with the lanes: what
  // is contiguous along it is read or written as vectors and transposed. -1:
  // none.
  int row = -1;
  int rows = 1;
};

struct TileAccess {
  int buffer;
  std::vector<Expr> index;
  bool is_store;
  // The conditions of the operation and of the selects around it.
  std::vector<Expr> conditions;
};

// An operation as its accesses.
struct OpAccesses {
  OpAccesses(const kernel_ir::Kernel& kernel, const kernel_ir::TileOp& op,
             int vector_bytes);

  const kernel_ir::TileOp* op;
  std::vector<TileAccess> accesses;
  double arithmetic = 0;      // operations per element
  int64_t natural_lanes = 1;  // elements of the widest type in a vector
};

class AccessCosts {
 public:
  AccessCosts(const kernel_ir::Kernel& kernel, const KernelRanges& ranges,
              const VectorTarget& target)
      : kernel_(kernel), ranges_(ranges), target_(target) {}

  // Vector operations that an access of memory takes per vector.
  double Cost(const OpAccesses& op, const TileAccess& access,
              const OpPlan& plan);
  // Per vector, all accesses of memory and the arithmetic. REQUIRES: the
  // operation touches no buffers but those in memory.
  double Cost(const OpAccesses& op, const OpPlan& plan);
  // The rows that a block along this axis of the box may have; 0: none.
  int MaxRows(const OpAccesses& op, int row) const;

 private:
  using Key = std::tuple<bool, int, int, int, int64_t, int64_t, int64_t>;
  double Strided(const TileAccess& access, int rows, int lanes, int active,
                 int64_t row_stride, int64_t lane_stride);
  double Block(const TileAccess& access, int lanes,
               const BlockOffsets& offsets) const;

  const kernel_ir::Kernel& kernel_;
  const KernelRanges& ranges_;
  const VectorTarget& target_;
  std::map<Key, double> strided_;
};

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_ACCESS_COST_H_
