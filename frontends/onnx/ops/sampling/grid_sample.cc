// GridSample: an image read at positions that are data. Along each dimension
// every output has a few neighbours and their weights, which all channels
// share; the output is the weighted sum over all of them.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"
#include "frontends/onnx/ops/sampling/neighbours.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

Interpolation ReadInterpolation(const OpContext& op) {
  Interpolation how;
  const std::string mode = op.String("mode", "linear");
  how.taps = mode == "nearest"                      ? 1
             : mode == "cubic" || mode == "bicubic" ? 4
                                                    : 2;
  const std::string outside = op.String("padding_mode", "zeros");
  how.outside = outside == "border"       ? Outside::kBorder
                : outside == "reflection" ? Outside::kReflection
                                          : Outside::kZeros;
  how.align_corners = op.Int("align_corners", 0) != 0;
  for (int i = 0; i < 2; ++i) {
    if (op.dtype(i) == DType::kFloat64) how.acc = DType::kFloat64;
  }
  return how;
}

absl::Status InferGridSample(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kFloat));
  TW_RETURN_IF_ERROR(RequireType(op, 1, TypeClass::kFloat));
  const Shape& x = op.shape(0);
  const Shape& grid = op.shape(1);
  const int least = op.opset() < 20 ? 4 : 3;
  const int most = op.opset() < 20 ? 4 : 5;
  const int rank = op.rank(0);
  if (rank < least || rank > most) {
    return op.Error("the image has shape ", ShapeText(x), " where ", least,
                    least == most ? "" : absl::StrCat(" to ", most),
                    " dimensions are needed");
  }
  if (op.rank(1) != rank || grid[0] != x[0] || grid.back() != rank - 2) {
    return op.Error("the grid of shape ", ShapeText(grid),
                    " does not hold positions in images of shape ",
                    ShapeText(x));
  }
  Shape shape = grid;
  shape.pop_back();
  shape.insert(shape.begin() + 1, x[1]);
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

// In pixels of `extent`, of what runs from -1 to 1 over the image.
Expr InPixels(const Interpolation& how, int64_t extent, const Expr& normal) {
  const auto pixels = static_cast<double>(extent);
  const Expr above = Add(normal, 1);
  return how.align_corners ? Mul(Mul(above, 0.5), pixels - 1)
                           : Mul(Add(Mul(above, pixels), -1), 0.5);
}

// Of dimension `d` of the image's: the neighbours of every position [n, ...].
Neighbours NeighboursAlong(ImportContext& in, const Interpolation& how, int d) {
  const Shape& grid = in.op().shape(1);
  const Shape shape(grid.begin(), grid.end() - 1);
  const int64_t extent = in.op().shape(0)[2 + d];
  const int64_t coordinate = grid.back() - 1 - d;  // the last comes first
  const TensorId source = in.input(1);
  Neighbours neighbours(how, extent);
  const TensorId positions = in.Elementwise(
      in.Name(0, absl::StrCat("position", d)), how.acc, shape, "position",
      [&](Index index) {
        std::vector<Expr> at(index.begin(), index.end());
        at.push_back(Expr::Int(coordinate));
        return neighbours.Placed(InPixels(
            how, extent, CastTo(how.acc, in.At(source, std::move(at)))));
      });
  neighbours.Compute(in, d, positions);
  return neighbours;
}

absl::Status ImportGridSample(ImportContext& in) {
  const OpContext& op = in.op();
  const Interpolation how = ReadInterpolation(op);
  const TensorId x = in.input(0);
  std::vector<Neighbours> dims;
  std::vector<NamedAxis> taps;
  for (int d = 0; d < op.rank(0) - 2; ++d) {
    dims.push_back(NeighboursAlong(in, how, d));
    taps.push_back({absl::StrCat("tap", d), how.taps});
  }
  const std::vector<NamedAxis> axes = AxesOf(op.output(0).shape);
  const Terms term = [&](Index index, Index tap) {
    std::vector<Expr> position(index.begin(), index.end());
    position.erase(position.begin() + 1);  // all channels have the same
    return WeightedPixel(in, x, dims, tap, position, {index[0], index[1]});
  };
  in.SetOutput(0, in.Reduction(in.Name(), op.dtype(0), axes, taps,
                               Combiner::Kind::kSum, "gridsample", term));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"GridSample", 16, 2, 2, InferGridSample, ImportGridSample},
};

}  // namespace

absl::Span<const OpDef> GridSampleOps() { return kOps; }

}  // namespace tilewright
