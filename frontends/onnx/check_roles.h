#ifndef TILEWRIGHT_FRONTENDS_ONNX_CHECK_ROLES_H_
#define TILEWRIGHT_FRONTENDS_ONNX_CHECK_ROLES_H_

#include "absl/status/statusor.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Computes of an imported graph with roles (tilegraph/analysis/families.h), and
// what the importer says are convolutions.
struct RoleCounts {
  int contractions = 0, convolutions = 0, imported_convolutions = 0;
};

// Internal if roles that are found are not true, or what the importer made of a
// convolution has none.
absl::StatusOr<RoleCounts> CheckRoles(const TensorGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_CHECK_ROLES_H_
