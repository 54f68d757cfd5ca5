#include "frontends/onnx/ops/matmul_shape.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"

namespace tilewright {

Shape MatMulShape::Output() const {
  Shape shape = batch;
  if (has_m) shape.push_back(m);
  if (has_n) shape.push_back(n);
  return shape;
}

std::vector<NamedAxis> MatMulShape::Axes() const {
  std::vector<NamedAxis> axes;
  for (size_t d = 0; d < batch.size(); ++d)
    axes.push_back({absl::StrCat("b", d), batch[d]});
  if (has_m) axes.push_back({"m", m});
  if (has_n) axes.push_back({"n", n});
  return axes;
}

// The batch part of an operand's index, aligned to the last ones.
std::vector<Expr> MatMulShape::Batch(const Shape& shape, int inner,
                                     absl::Span<const Expr> index) const {
  std::vector<Expr> at;
  const int own = static_cast<int>(shape.size()) - inner;
  for (int d = 0; d < own; ++d) {
    const int from = static_cast<int>(batch.size()) - own + d;
    at.push_back(shape[d] == 1 && batch[from] != 1 ? Expr::Int(0)
                                                   : index[from]);
  }
  return at;
}

std::vector<Expr> MatMulShape::Left(const Shape& a,
                                    absl::Span<const Expr> index,
                                    const Expr& k) const {
  std::vector<Expr> at = Batch(a, has_m ? 2 : 1, index);
  if (has_m) at.push_back(index[batch.size()]);
  at.push_back(k);
  return at;
}

std::vector<Expr> MatMulShape::Right(const Shape& b,
                                     absl::Span<const Expr> index,
                                     const Expr& k) const {
  std::vector<Expr> at = Batch(b, has_n ? 2 : 1, index);
  at.push_back(k);
  if (has_n) at.push_back(index.back());
  return at;
}

absl::StatusOr<MatMulShape> ReadMatMul(const OpContext& op, int left,
                                       int right) {
  TW_RETURN_IF_ERROR(RequireRank(op, left, 1));
  TW_RETURN_IF_ERROR(RequireRank(op, right, 1));
  const Shape& a = op.shape(left);
  const Shape& b = op.shape(right);
  MatMulShape s;
  s.has_m = a.size() > 1;
  s.has_n = b.size() > 1;
  s.k = a.back();
  if (s.k != b[s.has_n ? b.size() - 2 : 0]) {
    return op.Error("shapes ", ShapeText(a), " and ", ShapeText(b),
                    " do not multiply; fix the model");
  }
  if (s.has_m) s.m = a[a.size() - 2];
  if (s.has_n) s.n = b.back();
  TW_ASSIGN_OR_RETURN(
      s.batch,
      BroadcastShapes(op, Shape(a.begin(), a.end() - (s.has_m ? 2 : 1)),
                      Shape(b.begin(), b.end() - (s.has_n ? 2 : 1))));
  return s;
}

}  // namespace tilewright
