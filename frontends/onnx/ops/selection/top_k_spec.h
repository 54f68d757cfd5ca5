// What a TopK node asks for.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_SELECTION_TOP_K_SPEC_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_SELECTION_TOP_K_SPEC_H_

#include <cstdint>

#include "frontends/onnx/ops/common.h"

namespace tilewright {

struct TopKSpec {
  int axis = 0;
  int64_t count = 0;
  bool largest = true;
};

// Whether `a` comes before `b` whatever their places; NaN is the largest.
inline Expr Precedes(const Expr& a, const Expr& b, bool largest) {
  if (!IsFloat(a.dtype())) return Binary(largest ? Op::kGt : Op::kLt, a, b);
  const Expr number = largest ? b : a;
  return Binary(Op::kAnd,
                Unary(Op::kNot, Binary(largest ? Op::kLe : Op::kGe, a, b)),
                Binary(Op::kEq, number, number));
}

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_SELECTION_TOP_K_SPEC_H_
