// The reference that candidates are judged by: the expressions of a graph as
// plain loops in float64, with no schedule, and beside every element a bound on
// what a correct kernel may differ by (running error analysis).
//
//   an fp32 operation adds u·|result|, u = 2^-24; a function its ULPs; a sum of
//   K terms adds u·(√K + 8)·Σ|terms|; storing to fp16 or bf16 adds one
//   rounding; a comparison or rounding to integer that error could turn adds
//   what it would change.
//
// An element of a kernel's output may err by kBoundFactor times its bound.
#ifndef TILEWRIGHT_TILEGRAPH_REFERENCE_REFERENCE_H_
#define TILEWRIGHT_TILEGRAPH_REFERENCE_REFERENCE_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

struct ReferenceTensor {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> shape;
  std::vector<double> value;     // floats, row-major, not rounded to dtype
  std::vector<int64_t> integer;  // integers and bool
  std::vector<double> bound;     // empty: zero everywhere
};

// One that lies elsewhere, as it is passed to functions.
struct ReferenceView {
  ReferenceView(const ReferenceTensor& tensor)
      : dtype(tensor.dtype),
        shape(tensor.shape),
        value(tensor.value),
        integer(tensor.integer),
        bound(tensor.bound) {}
  ReferenceView(DType dtype, absl::Span<const int64_t> shape,
                absl::Span<const double> value,
                absl::Span<const int64_t> integer,
                absl::Span<const double> bound)
      : dtype(dtype),
        shape(shape),
        value(value),
        integer(integer),
        bound(bound) {}

  DType dtype;
  absl::Span<const int64_t> shape;
  absl::Span<const double> value;
  absl::Span<const int64_t> integer;
  absl::Span<const double> bound;
};

struct ReferenceOptions {
  // Relative error of one fp32 operation; 2^-9 where bf16 arithmetic is
  // allowed, 2^-11 for TF32 and fp16.
  double unit = 0x1p-24;
  // Integers that are exact in every order of evaluation: no bounds are kept,
  // magnitudes are.
  bool exact = false;
  int threads = 1;
};

struct ReferenceResult {
  std::map<TensorId, ReferenceTensor> outputs;
  // With `exact`: no partial result, in any order of summation, exceeds this.
  double largest_magnitude = 0;
};

// `inputs`: values of all placeholders and constants (the graph's own values of
// constants are not looked at). InvalidArgument if one is missing or does not
// fit. REQUIRES: VerifyGraph(graph).
absl::StatusOr<ReferenceResult> EvaluateReference(
    const TensorGraph& graph, const std::map<TensorId, HostTensor>& inputs,
    const ReferenceOptions& options);

// The same for one compute of a graph, from all that it loads.
ReferenceTensor EvaluateTensor(
    const Tensor& tensor, const std::map<TensorId, ReferenceTensor>& sources,
    const ReferenceOptions& options);
// A value without error.
ReferenceTensor ExactReference(const HostTensor& value);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REFERENCE_REFERENCE_H_
