// Evaluates nodes whose inputs are known.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_FOLD_CONSTANTS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_FOLD_CONSTANTS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "frontends/onnx/graph/op_context.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/import_options.h"

namespace tilewright {

// What is left of the limits of ImportOptions, over a whole model.
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
  int64_t max_bytes_;
  int64_t bytes_left_;
  int64_t work_left_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_FOLD_CONSTANTS_H_
