// numpy's matmul: one-dimensional operands are a row and a column.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_MATMUL_SHAPE_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_MATMUL_SHAPE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "frontends/onnx/graph/import_context.h"
#include "frontends/onnx/graph/op_context.h"

namespace tilewright {

struct MatMulShape {
  Shape batch;
  int64_t m = 1, n = 1, k = 1;
  bool has_m = false, has_n = false;

  Shape Output() const;
  // The output's axes: b0, b1, ..., m, n.
  std::vector<NamedAxis> Axes() const;
  // Where the left operand, of shape `a`, is read for an index of the output
  // and a term `k`; the right one, of shape `b`.
  std::vector<Expr> Left(const Shape& a, absl::Span<const Expr> index,
                         const Expr& k) const;
  std::vector<Expr> Right(const Shape& b, absl::Span<const Expr> index,
                          const Expr& k) const;

 private:
  std::vector<Expr> Batch(const Shape& shape, int inner,
                          absl::Span<const Expr> index) const;
};

// The shape of the product of inputs `a` and `b`. InvalidArgument if they do
// not multiply.
absl::StatusOr<MatMulShape> ReadMatMul(const OpContext& op, int a, int b);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_MATMUL_SHAPE_H_
