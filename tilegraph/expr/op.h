// The operations of scalar expressions, and what they mean.
//
// One definition for the interpreter, both kernel-IR tiers and all backends:
// - Integers wrap; x / 0 and x mod 0 give 0, INT_MIN / -1 gives INT_MIN. kDiv
//   on integers truncates, kFloorDiv and kFloorMod round down. An integer to a
//   negative power is 1 / x^n truncated.
// - max and min give NaN if either side is NaN, and order -0 below +0.
// - Comparisons and logic give bool. kRound rounds half to even.
// - Float to int casts truncate and saturate, NaN gives 0; a cast to bool is
//   != 0. fp16 and bf16 operands compute in fp32.
// - A kSelect evaluates only the branch it takes: a load in the other branch
//   may be out of bounds.
#ifndef TILEWRIGHT_TILEGRAPH_EXPR_OP_H_
#define TILEWRIGHT_TILEGRAPH_EXPR_OP_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/types/span.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright {

enum class Op : uint8_t {
  kConst,
  kVar,
  kLoad,  // leaves
  kNeg,
  kAbs,
  kExp,
  kLog,
  kSqrt,
  kTanh,
  kErf,
  kSigmoid,
  kSin,
  kCos,  // unary
  kFloor,
  kCeil,
  kRound,
  kNot,
  kIsNan,
  kCast,  // unary; kCast goes to the node's dtype
  kAdd,
  kSub,
  kMul,
  kDiv,
  kFloorDiv,
  kFloorMod,
  kPow,
  kMax,
  kMin,
  kAnd,
  kOr,
  kXor,  // binary, operands of one dtype
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,      // binary, result bool
  kSelect,  // condition, then, else
};

// "add", "floordiv", "select", ...: the spelling of the text form.
std::string_view Name(Op op);
// The operation that Expr::Make takes under this name; nullopt for leaves, cast
// and anything else.
std::optional<Op> ParseOp(std::string_view name);
// The dtype of `op` on such operands; nullopt if their number or dtypes do not
// fit: arithmetic takes numbers of one dtype, exp to round and isnan floats,
// floordiv and mod integers, not / and / or / xor bool or integers (bitwise),
// max, min and comparisons anything.
std::optional<DType> ResultDType(Op op, absl::Span<const DType> operands);
// Functions that a machine computes as arithmetic on several instructions: exp,
// log, tanh, erf, sigmoid, sin, cos and pow.
bool IsTranscendental(Op op);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_EXPR_OP_H_
