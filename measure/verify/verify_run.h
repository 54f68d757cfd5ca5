// Whether a run of a whole model computed its graph.
//
// All values that kernels leave in memory are observed: every observed tensor
// is verified by the float64 reference of the expressions between it and the
// tensors observed before it, whose values are those that were found. So bounds
// are those of a kernel however deep a model is (reference.h), an error is told
// where it arises, and results that reach the wrong reader show as well.
//
// Where little is observed, bounds may become wider than the values. Then an
// element may err by 1e-4 (times bound_scale) of the tensor's largest value, by
// 0.05 where the graph or `unit` is less exact than f32. With the unit of f32 and
// at most one sum between what was observed and an element, the terms of that
// cancel out: what is left is rounding, and the bound alone says how much.
#ifndef TILEWRIGHT_MEASURE_VERIFY_VERIFY_RUN_H_
#define TILEWRIGHT_MEASURE_VERIFY_VERIFY_RUN_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::measure {

struct VerifyRunOptions {
  // As in VerifierOptions: of what --allow permits.
  double unit = 0x1p-24;
  double bound_scale = 1;
  double underflow = 0;  // as in VerifyOutput
  int threads = 1;
};

struct RunVerdict {
  std::string reason;        // empty: right; else the first tensor that is not
  double largest_error = 0;  // in bounds; an element may err by `limit`
  std::string worst;         // the tensor with that error
  double limit = 0;
  int64_t tensors = 0;     // verified
  int64_t elements = 0;    // of these
  int64_t unverified = 0;  // elements whose bound is infinite
  int64_t wide = 0;        // elements whose bound is wider than the values
};

// `inputs`: values of all placeholders. `observed`: of computes, all outputs of
// the graph among them; what is observed of other tensors is not looked at.
// InvalidArgument if one is missing or has another dtype or shape than its
// tensor.
absl::StatusOr<RunVerdict> VerifyRun(
    const TensorGraph& graph, const std::map<TensorId, HostTensor>& inputs,
    const std::map<TensorId, HostTensor>& observed,
    const VerifyRunOptions& options);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_VERIFY_VERIFY_RUN_H_
