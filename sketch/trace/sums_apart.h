// Reductions whose accumulators are of another type or number than their
// tensor: a tree holds them apart and copies the result out.
#ifndef TILEWRIGHT_SKETCH_TRACE_SUMS_APART_H_
#define TILEWRIGHT_SKETCH_TRACE_SUMS_APART_H_

#include <optional>
#include <string>

#include "tilegraph/ir/combiner.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

// Whether `tensor` is such a reduction.
inline bool HasSumsApart(const Tensor& tensor) {
  const std::optional<Combiner>& combiner = tensor.compute.combiner;
  return combiner && (combiner->arity() != 1 ||
                      combiner->component_dtype(0) != tensor.dtype);
}

// The buffer of its accumulators, and the block that copies them out, of such a
// reduction.
inline std::string SumsApartOf(const Tensor& tensor) {
  return tensor.name + ".acc";
}
inline std::string CopyOutOf(const Tensor& tensor) {
  return tensor.name + ".out";
}

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TRACE_SUMS_APART_H_
