#include "tilegraph/analysis/exact_integers.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/rounding_ops.h"
#include "tilegraph/ir/combiner.h"

namespace tilewright {
namespace {

int SignificandBits(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 11;
    case DType::kBFloat16:
      return 8;
    case DType::kFloat32:
      return 24;
    default:
      return 53;
  }
}

}  // namespace

bool IsExactOnIntegers(const TensorGraph& graph) {
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute) continue;
    const std::optional<Combiner>& combiner = tensor.compute.combiner;
    if (combiner && (!combiner->exact_on_integers() ||
                     (combiner->kind() == Combiner::Kind::kProd &&
                      IsFloat(combiner->acc()))))
      return false;
    bool exact = true;
    for (const Expr& body : tensor.compute.body) {
      Visit(body, [&](const Expr& e) {
        if (!IsFloat(e.dtype())) return;
        exact = exact && IsRingOp(e.op());
        // -inf and +inf start running maxima.
        if (e.op() == Op::kConst && std::isfinite(e.float_value()))
          exact = exact && e.float_value() == std::nearbyint(e.float_value());
      });
    }
    if (!exact) return false;
  }
  return true;
}

double ExactLimit(const TensorGraph& graph) {
  int bits = 53;
  for (const Tensor& tensor : graph.tensors()) {
    if (IsFloat(tensor.dtype))
      bits = std::min(bits, SignificandBits(tensor.dtype));
    if (tensor.compute.combiner && IsFloat(tensor.compute.combiner->acc()))
      bits = std::min(bits, SignificandBits(tensor.compute.combiner->acc()));
    for (const Expr& body : tensor.compute.body) {
      // fp16 and bf16 compute in fp32.
      Visit(body, [&](const Expr& e) {
        if (IsFloat(e.dtype()))
          bits = std::min(bits, e.dtype() == DType::kFloat64 ? 53 : 24);
      });
    }
  }
  return std::ldexp(1.0, bits);
}

}  // namespace tilewright
