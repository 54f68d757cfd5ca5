// Expressions of tile operations laid out for evaluation, element by element.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_TILE_PROGRAM_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_TILE_PROGRAM_H_

#include <vector>

#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/interpret/interpreter.h"

namespace tilewright::kernel_ir {

// One node of an expression; operands come before their users.
struct TileNode {
  Op op;
  DType dtype;
  DType operand_dtype = DType::kInt64;
  int operands[3] = {-1, -1, -1};
  Scalar constant;
  int var = 0;
  int source = 0;  // negative: a slot, see below
  std::vector<int> index;
};

// Loads with these sources stand for values computed elsewhere: accumulators,
// then bodies.
inline int AccumulatorSlot(int component) { return -1 - component; }
inline int BodySlot(int component) { return -101 - component; }

struct TileProgram {
  std::vector<TileNode> nodes;

  // Appends the expression; returns the place of its root.
  int Add(const Expr& e);
};

}  // namespace tilewright::kernel_ir

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_TILE_PROGRAM_H_
