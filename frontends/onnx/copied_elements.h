// Computes that only copy elements of constants, as copies in memory instead of
// an expression for each element: weights that an exporter cuts into parts,
// puts together in another order and transposes.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_COPIED_ELEMENTS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_COPIED_ELEMENTS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "frontends/onnx/graph/op_context.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// The value of `id`, of known shape: elements of one constant at positions that
// are linear in the axes (transpositions, slices, broadcasts), or whole
// constants behind each other. nullopt if it is something else.
absl::StatusOr<std::optional<HostTensor>> CopiedElements(
    const OpContext& op, const TensorGraph& graph, TensorId id);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_COPIED_ELEMENTS_H_
