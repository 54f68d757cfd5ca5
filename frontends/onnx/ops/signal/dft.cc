// DFT along any axis but the last, which has the parts of complex numbers: a
// product with the matrix of the transform.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"
#include "frontends/onnx/ops/signal/fourier_matrix.h"
#include "frontends/onnx/ops/signal/fourier_transform.h"
#include "frontends/onnx/ops/signal/known.h"

namespace tilewright {
namespace {

using Index = absl::Span<const Expr>;

struct DftSpec {
  int axis = 0;
  FourierSpec fourier;
};

// An attribute before opset 20, then an optional input.
absl::StatusOr<int> ReadAxis(const OpContext& op) {
  const int rank = op.rank(0);
  int64_t axis = op.opset() < 20 ? op.Int("axis", 1) : -2;
  if (op.has_input(2)) {
    TW_ASSIGN_OR_RETURN(axis, KnownNumber(op, 2, "the axis", -rank, rank - 1));
  }
  TW_ASSIGN_OR_RETURN(const int at, op.Axis(axis, rank));
  if (at == rank - 1) {
    return op.Error("axis ", axis, " of ", ShapeText(op.shape(0)),
                    " has the parts of complex numbers");
  }
  return at;
}

absl::StatusOr<DftSpec> ReadDft(const OpContext& op) {
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kFloat));
  TW_RETURN_IF_ERROR(RequireRank(op, 0, 2));
  DftSpec spec;
  FourierSpec& fourier = spec.fourier;
  const Shape& shape = op.shape(0);
  fourier.parts = shape.back();
  if (fourier.parts != 1 && fourier.parts != 2) {
    return op.Error("the last dimension of ", ShapeText(shape),
                    " is neither 1, for real, nor 2, for complex numbers");
  }
  TW_ASSIGN_OR_RETURN(spec.axis, ReadAxis(op));
  const int64_t extent = shape[static_cast<size_t>(spec.axis)];
  fourier.length = extent;
  if (op.has_input(1)) {
    TW_ASSIGN_OR_RETURN(fourier.length,
                        KnownNumber(op, 1, "dft_length", 1, kLongestSignal));
  }
  if (fourier.length > kLongestSignal)
    return op.Unsupported("a transform of length ", fourier.length);
  fourier.terms = std::min(extent, fourier.length);
  fourier.inverse = op.Int("inverse", 0) != 0;
  const bool onesided = op.Int("onesided", 0) != 0;
  if (onesided && fourier.parts == 2) {
    return op.Error("onesided is 1 but the numbers of ", ShapeText(shape),
                    " are complex");
  }
  if (onesided && fourier.inverse)
    return op.Unsupported("an inverse onesided transform");
  fourier.bins = onesided ? fourier.length / 2 + 1 : fourier.length;
  TW_RETURN_IF_ERROR(CheckFourier(op, fourier));
  return spec;
}

absl::Status InferDft(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const DftSpec spec, ReadDft(op));
  Shape shape = op.shape(0);
  shape[static_cast<size_t>(spec.axis)] = spec.fourier.bins;
  shape.back() = 2;
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status ImportDft(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const DftSpec spec, ReadDft(op));
  const DType acc = Combiner::DefaultAccumulator(op.dtype(0));
  TW_ASSIGN_OR_RETURN(HostTensor table, FourierMatrix(op, spec.fourier, acc));
  const TensorId matrix = in.Constant(in.Name(0, "matrix"), std::move(table));
  const TensorId x = in.input(0);
  const int axis = spec.axis;
  Shape signals = op.shape(0);
  signals.pop_back();
  signals.erase(signals.begin() + axis);
  const TensorId columns =
      EmitTransform(in, in.Name(0, "columns"), spec.fourier, matrix, signals,
                    [&](Index index, const Expr& term, const Expr& part) {
                      std::vector<Expr> at(index.begin(), index.end());
                      at.insert(at.begin() + axis, term);
                      at.push_back(part);
                      return in.At(x, std::move(at));
                    });
  const Shape& shape = op.output(0).shape;
  if (axis + 2 == op.rank(0)) {
    in.SetOutput(0, EmitReshaped(in, in.Name(), columns, shape));
    return absl::OkStatus();
  }
  in.EmitElementwise(0, "dft", [&](Index index) {
    std::vector<Expr> at(index.begin(), index.end() - 1);
    at.erase(at.begin() + axis);
    at.push_back(index[static_cast<size_t>(axis)] * Expr::Int(2) +
                 index.back());
    return in.At(columns, std::move(at));
  });
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"DFT", 17, 1, 2, InferDft, ImportDft},
    {"DFT", 20, 1, 3, InferDft, ImportDft},
};

}  // namespace

absl::Span<const OpDef> DftOps() { return kOps; }

}  // namespace tilewright
