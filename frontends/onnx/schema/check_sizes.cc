#include "frontends/onnx/schema/check_sizes.h"

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "frontends/onnx/graph/tensor_proto.h"

namespace tilewright {
namespace {

constexpr double kMostTerms = 0x1p50;

}  // namespace

absl::Status CheckSizes(const OpContext& op, const TensorGraph& graph,
                        int first) {
  for (int id = first; id < graph.size(); ++id) {
    const Tensor& tensor = graph.tensor(id);
    const std::vector<int64_t> shape = tensor.static_shape();
    const absl::StatusOr<int64_t> bytes = TensorBytes(tensor.dtype, shape);
    if (!bytes.ok()) {
      return op.Error("its intermediate tensor ", Quoted(tensor.name), ": ",
                      bytes.status().message());
    }
    if (tensor.kind != TensorKind::kCompute) continue;
    double terms = 1;
    for (const int64_t extent : shape) terms *= static_cast<double>(extent);
    for (const Axis& axis : tensor.compute.reduce_axes)
      terms *= static_cast<double>(axis.extent.value());
    if (terms > kMostTerms) {
      return op.Error("tensor ", Quoted(tensor.name), " of shape ",
                      ShapeText(shape), " takes ", terms,
                      " operations, more than ", kMostTerms);
    }
  }
  return absl::OkStatus();
}

}  // namespace tilewright
