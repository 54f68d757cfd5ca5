// AffineGrid: the positions that affine maps give those of an image.
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"

namespace tilewright {
namespace {

constexpr int64_t kLongestSide = int64_t{1} << 21;

// [batch, rows, columns], or [batch, planes, rows, columns].
absl::StatusOr<Shape> ReadImage(const OpContext& op) {
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> size, op.ConstInts(1));
  const Shape& theta = op.shape(0);
  const auto dims = static_cast<int64_t>(size.size()) - 2;
  if (dims != 2 && dims != 3) {
    return op.Error("size has ", size.size(),
                    " entries where 4 or 5 are needed");
  }
  if (theta != Shape{size[0], dims, dims + 1}) {
    return op.Error("theta of shape ", ShapeText(theta), " does not fit size ",
                    ShapeText(size));
  }
  Shape image = {size[0]};
  for (size_t d = 2; d < size.size(); ++d) {
    if (size[d] < 1 || size[d] > kLongestSide)
      return op.Error("size ", ShapeText(size), " is out of range");
    if (size[d] == 1 && op.Int("align_corners", 0) != 0)
      return op.Unsupported("a side of 1 with corners aligned");
    image.push_back(size[d]);
  }
  return image;
}

absl::Status InferAffineGrid(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kFloat));
  TW_ASSIGN_OR_RETURN(Shape shape, ReadImage(op));
  shape.push_back(static_cast<int64_t>(shape.size()) - 1);
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

// The positions of a side: from -1 to 1, from middle to middle of the first and
// last element if corners are aligned, else from edge to edge.
absl::StatusOr<HostTensor> Positions(const OpContext& op, int64_t side,
                                     DType dtype) {
  TW_ASSIGN_OR_RETURN(HostTensor positions, op.NewTensor(dtype, {side}));
  const bool align = op.Int("align_corners", 0) != 0;
  for (int64_t i = 0; i < side; ++i) {
    const auto at = static_cast<double>(align ? 2 * i : 2 * i + 1);
    positions.Set(
        i, Scalar{at / static_cast<double>(align ? side - 1 : side) - 1, 0});
  }
  return positions;
}

absl::Status ImportAffineGrid(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const Shape image, ReadImage(op));
  const size_t dims = image.size() - 1;
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  const TensorId theta = in.input(0);
  std::vector<TensorId> positions;
  for (size_t d = 1; d <= dims; ++d) {
    TW_ASSIGN_OR_RETURN(HostTensor side, Positions(op, image[d], acc));
    positions.push_back(
        in.Constant(in.Name(0, absl::StrCat("side", d)), std::move(side)));
  }
  in.EmitElementwise(0, "affinegrid", [&](absl::Span<const Expr> index) {
    const auto factor = [&](size_t column) {
      return CastTo(acc,
                    in.At(theta, {index[0], index.back(),
                                  Expr::Int(static_cast<int64_t>(column))}));
    };
    Expr sum = factor(dims);
    // The last dimension comes first.
    for (size_t k = 0; k < dims; ++k) {
      sum = Binary(Op::kAdd, sum,
                   Binary(Op::kMul, factor(k),
                          in.At(positions[dims - 1 - k], {index[dims - k]})));
    }
    return sum;
  });
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"AffineGrid", 20, 2, 2, InferAffineGrid, ImportAffineGrid},
};

}  // namespace

absl::Span<const OpDef> AffineGridOps() { return kOps; }

}  // namespace tilewright
