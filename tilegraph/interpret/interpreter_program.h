// The body of one compute as straight code over registers, compiled once per
// tensor. Private to the interpreter.
#ifndef TILEWRIGHT_TILEGRAPH_INTERPRET_INTERPRETER_PROGRAM_H_
#define TILEWRIGHT_TILEGRAPH_INTERPRET_INTERPRETER_PROGRAM_H_

#include <cstdint>
#include <vector>

#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// A value in a register: which member counts follows from the dtype.
union Register {
  double f;
  int64_t i;
};

// The common operations have codes of their own; kOther asks EvaluateOp.
enum class Code : uint8_t {
  kMove,
  kJump,
  kJumpIfFalse,
  kLoad,
  kOther,  // jumps go to instruction `c`; kLoad reads loads[b]
  kAddF,
  kSubF,
  kMulF,
  kDivF,
  kNegF,  // floats, in double
  kAddI,
  kSubI,
  kMulI,
  kEqI,
  kNeI,
  kLtI,
  kLeI,
  kGtI,
  kGeI,
  kAnd,
  kOr,  // i64, and bool for the logic
};

struct Instruction {
  Code code;
  Op op = Op::kConst;                   // kOther
  DType dtype = DType::kInt64;          // kOther
  DType operand_dtype = DType::kInt64;  // kOther
  int result = 0;
  int a = 0, b = 0, c = 0;
};

struct LoadSite {
  TensorId tensor;
  std::vector<int> indices;  // registers
  std::vector<int64_t> extents, strides;
};

// Registers 0 .. num_axes-1 hold the axes, then come the accumulators (if it
// reduces), then constants and results. Running `code` computes `results`: the
// next accumulators, or the one value of a compute without reduction.
struct InterpreterProgram {
  int num_spatial = 0, num_axes = 0, num_accumulators = 0;
  std::vector<int64_t> extents;  // of all axes
  std::vector<Register>
      initial;  // all registers, constants and identities in place
  std::vector<Instruction> code;
  std::vector<LoadSite> loads;
  std::vector<int> results;
  int result = 0;  // which of `results` the tensor takes
  DType result_dtype =
      DType::kFloat32;  // before the cast to the tensor's dtype
};

// REQUIRES: the graph verifies.
InterpreterProgram CompileProgram(const TensorGraph& graph, TensorId id);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_INTERPRET_INTERPRETER_PROGRAM_H_
