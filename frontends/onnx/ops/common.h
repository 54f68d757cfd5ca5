// Functions shared by the operator families.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_COMMON_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_COMMON_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "frontends/onnx/graph/import_context.h"
#include "frontends/onnx/graph/op_context.h"

namespace tilewright {

enum class TypeClass { kAny, kNumeric, kFloat, kBool };

// InvalidArgument unless input `i` has such a dtype.
absl::Status RequireType(const OpContext& op, int i, TypeClass wanted);
// InvalidArgument unless the present inputs from `first` on have one dtype.
absl::Status RequireSameType(const OpContext& op, int first = 0);
absl::Status RequireRank(const OpContext& op, int i, int least);

// The shape both broadcast to. InvalidArgument names both.
absl::StatusOr<Shape> BroadcastShapes(const OpContext& op, const Shape& a,
                                      const Shape& b);

// Output 0 has the dtype and shape of input 0, of any dtype; a number; a float.
absl::Status InferSame(OpContext& op);
absl::Status InferSameNumeric(OpContext& op);
absl::Status InferSameFloat(OpContext& op);

// The hint of a node that is one compute: its operator, in small letters.
std::string HintOf(const OpContext& op);

// `name`: the elements of `x` in their order, in another shape.
TensorId EmitReshaped(ImportContext& in, std::string name, TensorId x,
                      const Shape& shape);
// Output 0 is input 0 with other dimensions: itself if they are equal.
absl::Status ImportReshape(ImportContext& in);
// The element of `from` (of `shape`) that has the row-major position that
// `index` has in `to_shape`.
Expr LoadReshaped(const ImportContext& in, TensorId from, const Shape& shape,
                  absl::Span<const Expr> index, const Shape& to_shape);

// The row-major position of `index` in a tensor of `shape`, and its inverse.
Expr FlatPosition(absl::Span<const Expr> index, const Shape& shape);
std::vector<Expr> IndexOfFlat(const Expr& position, const Shape& shape);

// A position read from a tensor: negative counts from the end, once; what is
// out of range is clamped.
Expr PositionFromData(const Expr& position, int64_t extent);

// Output 0 is the element of input 0 at what `at` makes of the index; input 0
// itself if `is_whole`.
absl::Status EmitMove(
    ImportContext& in, bool is_whole,
    const std::function<std::vector<Expr>(absl::Span<const Expr>)>& at);

// Where `index` into a tensor of `shape` with so many elements before and
// behind it (where negative: without as many) lies in the tensor itself.
struct FramedIndex {
  std::vector<Expr> at;
  Expr inside;  // whether it does; null: always
};
FramedIndex WithoutFrame(absl::Span<const Expr> index, const Shape& shape,
                         absl::Span<const int64_t> before,
                         absl::Span<const int64_t> behind);
// `name`: `x` within a frame of `outside`: so many elements before and behind
// it along each dimension. Itself if there are none.
TensorId PadDims(ImportContext& in, std::string name, TensorId x,
                 absl::Span<const int64_t> before,
                 absl::Span<const int64_t> behind, const Expr& outside);

// Output 0 is F of input 0, element by element.
template <Expr (*F)(const Expr&)>
absl::Status ImportUnary(ImportContext& in) {
  const TensorId x = in.input(0);
  in.EmitElementwise(0, HintOf(in.op()), [&](absl::Span<const Expr> index) {
    return F(in.Load(x, index));
  });
  return absl::OkStatus();
}

template <Op kOp>
Expr Apply(const Expr& x) {
  return Unary(kOp, x);
}

// Reduces the flagged dimensions of something with `shape`. The result has the
// same rank, extent 1 where reduced; without `keep` those dimensions are gone.
// `term` gets an index into `shape`.
TensorId ReduceDims(ImportContext& in, std::string name, DType dtype,
                    const Shape& shape, const std::vector<bool>& reduced,
                    bool keep, Combiner::Kind combiner, ComputeHint hint,
                    const Body& term);

// A float rounded to an integer (half to even), plus `zero` (a float, or
// empty), clipped to what `to` holds, or to what its lowest `narrow_bits` do.
Expr Quantized(const Expr& value, const Expr& zero, DType to,
               int narrow_bits = 0);

// The axes d0, d1, ... of something with `shape`.
std::vector<NamedAxis> AxesOf(const Shape& shape);

// Product of the extents in [begin, end).
int64_t Product(const Shape& shape, size_t begin, size_t end);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_COMMON_H_
