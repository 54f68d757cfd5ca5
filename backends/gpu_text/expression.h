// Pieces of C++ that compute values.
#ifndef TILEWRIGHT_BACKENDS_GPU_TEXT_EXPRESSION_H_
#define TILEWRIGHT_BACKENDS_GPU_TEXT_EXPRESSION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::gpu_text {

// How tightly an expression binds, the tightest first: C++'s precedence.
enum class Level {
  kPrimary,
  kUnary,
  kProduct,
  kSum,
  kRelation,
  kEquality,
  kBitAnd,
  kBitXor,
  kBitOr,
  kAnd,
  kOr,
  kConditional,
};

struct Piece {
  std::string text;
  Level level = Level::kPrimary;

  // In parentheses if it binds less tightly than `level`.
  std::string Within(Level level) const;
};

// "float", "i64", "Vec<float, 16>", "fp16".
std::string TypeName(DType dtype, int lanes = 1);

// A constant of the dtype, rounded or wrapped to it. `typed`: it must have its
// type where no other operand gives it one; else a plain 5 may stand for i64.
Piece Literal(DType dtype, double f, int64_t i, bool typed);

Piece Call(const std::string& function, const std::vector<Piece>& arguments);
// a op b, for an operator of C++ that associates to the left.
Piece Infix(const std::string& op, Level level, const Piece& a, const Piece& b);
Piece Conditional(const Piece& condition, const Piece& a, const Piece& b);
// A conversion of a scalar: kCast.
Piece CastTo(DType to, DType from, const Piece& value);

// The operator of C++ that means `op` for scalars of the dtype: wrapping and
// division as C++ has them. Empty if there is none.
struct Operator {
  std::string text;
  Level level = Level::kPrimary;
};
Operator ScalarOperator(Op op, DType dtype);
// The same for vectors, which have operators of their own.
Operator VectorOperator(Op op);
// The prelude's function for an operation that is no operator: "tw_max".
// Empty for functions that ExpandFunctions must have replaced.
std::string FunctionName(Op op);

}  // namespace tilewright::gpu_text

#endif  // TILEWRIGHT_BACKENDS_GPU_TEXT_EXPRESSION_H_
