#include "frontends/onnx/ops/signal/known.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "frontends/onnx/graph/tensor_proto.h"

namespace tilewright {

absl::StatusOr<int64_t> KnownNumber(const OpContext& op, int i,
                                    absl::string_view name, int64_t least,
                                    int64_t most) {
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> values, op.ConstInts(i));
  if (values.size() == 1 && values[0] >= least && values[0] <= most)
    return values[0];
  return op.Error(name, " is ", ShapeText(values), " where one number from ",
                  least, " to ", most, " is needed");
}

absl::StatusOr<DType> NamedType(const OpContext& op) {
  const int64_t named = op.Int("output_datatype", 1);
  const std::optional<DType> dtype = FromOnnxType(named);
  if (!dtype.has_value() || *dtype == DType::kBool)
    return op.Unsupported("output_datatype ", named);
  return *dtype;
}

void SetKnown(OpContext& op, HostTensor value) {
  op.SetOutput(0, value.dtype(), value.shape());
  op.outputs()[0].constant =
      std::make_shared<const HostTensor>(std::move(value));
}

}  // namespace tilewright
