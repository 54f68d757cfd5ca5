// Evaluates nodes whose inputs are known.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_FOLD_CONSTANTS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_FOLD_CONSTANTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "frontends/onnx/graph/op_context.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/import_options.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Constant folding within the limits of ImportOptions, over a whole model.
class Folder {
 public:
  explicit Folder(const ImportOptions& options)
      : max_bytes_(options.max_folded_bytes),
        bytes_left_(options.max_folded_total_bytes),
        work_left_(options.max_folded_work) {}

  // Sets the constants of the node's outputs if all its inputs are constant and
  // the limits allow it. False: the node stays.
  absl::StatusOr<bool> Fold(OpContext& op, const OpDef& def);

 private:
  // Fills in the values that are null, by copying or by the interpreter. False:
  // one is not to be had within the limits.
  absl::StatusOr<bool> Evaluate(
      const OpContext& op, const TensorGraph& graph,
      absl::Span<const TensorId> outputs,
      std::vector<std::shared_ptr<const HostTensor>>& values);

  int64_t max_bytes_;
  int64_t bytes_left_;
  int64_t work_left_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_FOLD_CONSTANTS_H_
