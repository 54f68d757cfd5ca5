// STFT: each frame of a signal times a window, transformed. The window goes
// into the matrix of the transform, and frames are where that is applied.
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

// Inputs.
constexpr int kSignal = 0, kStep = 1, kWindow = 2, kLength = 3;

struct StftSpec {
  int64_t step = 1, frames = 1;
  FourierSpec fourier;
};

// By frame_length, or the window.
absl::StatusOr<int64_t> FrameLength(const OpContext& op) {
  const int64_t samples = op.shape(kSignal)[1];
  int64_t length = 0;
  if (op.has_input(kLength)) {
    TW_ASSIGN_OR_RETURN(length,
                        KnownNumber(op, kLength, "frame_length", 1, samples));
  }
  if (!op.has_input(kWindow)) {
    if (length > 0) return length;
    return op.Error(
        "neither a window nor frame_length says how long frames are");
  }
  const Shape& window = op.shape(kWindow);
  if (window.size() != 1 || window[0] < 1 || window[0] > samples ||
      (length > 0 && window[0] != length)) {
    return op.Error("a window of shape ", ShapeText(window),
                    " does not fit frames of ", ShapeText(op.shape(kSignal)));
  }
  return window[0];
}

absl::StatusOr<StftSpec> ReadStft(const OpContext& op) {
  TW_RETURN_IF_ERROR(RequireType(op, kSignal, TypeClass::kFloat));
  const Shape& signal = op.shape(kSignal);
  if (signal.size() != 3 || (signal[2] != 1 && signal[2] != 2)) {
    return op.Error("the signal has shape ", ShapeText(signal),
                    " where [batch, samples, 1] or, for complex numbers, "
                    "[batch, samples, 2] is needed");
  }
  if (op.has_input(kWindow) && op.dtype(kWindow) != op.dtype(kSignal)) {
    return op.Error("the signal is ", DTypeText(op.dtype(kSignal)),
                    " but the window ", DTypeText(op.dtype(kWindow)));
  }
  StftSpec spec;
  FourierSpec& fourier = spec.fourier;
  TW_ASSIGN_OR_RETURN(spec.step,
                      KnownNumber(op, kStep, "frame_step", 1, kLongestSignal));
  TW_ASSIGN_OR_RETURN(fourier.length, FrameLength(op));
  if (fourier.length > kLongestSignal)
    return op.Unsupported("frames of ", fourier.length);
  spec.frames = (signal[1] - fourier.length) / spec.step + 1;
  fourier.terms = fourier.length;
  fourier.parts = signal[2];
  const bool onesided = op.Int("onesided", 1) != 0;
  if (onesided && fourier.parts == 2) {
    return op.Error("onesided is 1 but the signal of shape ", ShapeText(signal),
                    " is complex");
  }
  fourier.bins = onesided ? fourier.length / 2 + 1 : fourier.length;
  TW_RETURN_IF_ERROR(CheckFourier(op, fourier));
  return spec;
}

absl::Status InferStft(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const StftSpec spec, ReadStft(op));
  op.SetOutput(0, op.dtype(kSignal),
               {op.shape(kSignal)[0], spec.frames, spec.fourier.bins, 2});
  return absl::OkStatus();
}

// The matrix of the transform times the window.
absl::StatusOr<TensorId> EmitMatrix(ImportContext& in, const FourierSpec& spec,
                                    DType acc) {
  const OpContext& op = in.op();
  const bool windowed = op.has_input(kWindow);
  const HostTensor* const known =
      windowed ? op.input(kWindow).constant.get() : nullptr;
  TW_ASSIGN_OR_RETURN(HostTensor table, FourierMatrix(op, spec, acc, known));
  const Shape shape = table.shape();
  const TensorId matrix = in.Constant(in.Name(0, "matrix"), std::move(table));
  if (!windowed || known != nullptr) return matrix;
  const TensorId window = in.input(kWindow);
  return in.Elementwise(
      in.Name(0, "windowed"), acc, shape, "window", [&](Index index) {
        return Binary(Op::kMul, in.At(matrix, {index.begin(), index.end()}),
                      CastTo(acc, in.At(window, {index[0]})));
      });
}

absl::Status ImportStft(ImportContext& in) {
  const OpContext& op = in.op();
  TW_ASSIGN_OR_RETURN(const StftSpec spec, ReadStft(op));
  const DType acc = Combiner::DefaultAccumulator(op.dtype(kSignal));
  TW_ASSIGN_OR_RETURN(const TensorId matrix, EmitMatrix(in, spec.fourier, acc));
  const TensorId x = in.input(kSignal);
  const Shape& shape = op.output(0).shape;
  const TensorId columns = EmitTransform(
      in, in.Name(0, "columns"), spec.fourier, matrix, {shape[0], shape[1]},
      [&](Index index, const Expr& term, const Expr& part) {
        return in.At(x,
                     {index[0], index[1] * Expr::Int(spec.step) + term, part});
      });
  in.SetOutput(0, EmitReshaped(in, in.Name(), columns, shape));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"STFT", 17, 2, 4, InferStft, ImportStft},
};

}  // namespace

absl::Span<const OpDef> StftOps() { return kOps; }

}  // namespace tilewright
