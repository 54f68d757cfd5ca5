#include "frontends/onnx/check_roles.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tilegraph/analysis/families.h"

namespace tilewright {

absl::StatusOr<RoleCounts> CheckRoles(const TensorGraph& graph) {
  RoleCounts counts;
  for (const Tensor& tensor : graph.tensors()) {
    if (const auto roles = AsContraction(graph, tensor.id)) {
      ++counts.contractions;
      TW_RETURN_IF_ERROR(VerifyRoles(graph, tensor.id, *roles));
    }
    const auto roles = AsConvolution(graph, tensor.id);
    if (roles) {
      ++counts.convolutions;
      TW_RETURN_IF_ERROR(VerifyRoles(graph, tensor.id, *roles));
    }
    if (tensor.hint.role() != ComputeRole::kConvolution) continue;
    ++counts.imported_convolutions;
    if (!roles)
      return absl::InternalError(
          absl::StrCat("no roles of a convolution in '", tensor.name, "'"));
  }
  return counts;
}

}  // namespace tilewright
