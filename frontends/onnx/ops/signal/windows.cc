// Windows as sums of cosines: HannWindow, HammingWindow, BlackmanWindow. The
// size is known, and so are all values.
#include <cstdint>
#include <utility>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/ops/families.h"
#include "frontends/onnx/ops/signal/fourier_matrix.h"
#include "frontends/onnx/ops/signal/known.h"

namespace tilewright {
namespace {

// a[0] - a[1] cos(t) + a[2] cos(2 t), where t runs over a turn.
struct Cosines {
  double a[3];
};
constexpr Cosines kHann = {{0.5, 0.5, 0}};
constexpr Cosines kHamming = {{25.0 / 46, 21.0 / 46, 0}};
constexpr Cosines kBlackman = {{0.42, 0.5, 0.08}};

template <const Cosines& kCosines>
absl::Status InferWindow(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const DType dtype, NamedType(op));
  TW_ASSIGN_OR_RETURN(const int64_t size,
                      KnownNumber(op, 0, "the size", 1, kLongestSignal));
  // A symmetric window ends where the turn does, a periodic one before it.
  const int64_t turn = op.Int("periodic", 1) != 0 ? size : size - 1;
  if (turn == 0) return op.Unsupported("a symmetric window of one value");
  TW_ASSIGN_OR_RETURN(HostTensor window, op.NewTensor(dtype, {size}));
  for (int64_t i = 0; i < size; ++i) {
    const double value = kCosines.a[0] -
                         kCosines.a[1] * RootOfUnity(i % turn, turn).cos +
                         kCosines.a[2] * RootOfUnity(2 * i % turn, turn).cos;
    window.Set(i, Scalar{value, static_cast<int64_t>(value)});
  }
  SetKnown(op, std::move(window));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {"HannWindow", 17, 1, 1, InferWindow<kHann>, nullptr},
    {"HammingWindow", 17, 1, 1, InferWindow<kHamming>, nullptr},
    {"BlackmanWindow", 17, 1, 1, InferWindow<kBlackman>, nullptr},
};

}  // namespace

absl::Span<const OpDef> WindowFunctionOps() { return kOps; }

}  // namespace tilewright
