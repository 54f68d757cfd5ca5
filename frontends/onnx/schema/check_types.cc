#include "frontends/onnx/schema/check_types.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/op_table.h"
#include "frontends/onnx/schema/type_rules.h"

namespace tilewright {
namespace {

// "export the model for opset 14 or later"
std::string Remedy(const OpContext& op, int input) {
  for (int64_t later = op.opset() + 1; later <= kMaxOpset; ++later) {
    if (TypesOf(op.node().op, later, input) & Bit(op.dtype(input)))
      return absl::StrCat("export the model for opset ", later, " or later");
  }
  return "convert it before";
}

}  // namespace

absl::Status CheckTypes(const OpContext& op) {
  for (int i = 0; i < op.num_inputs(); ++i) {
    if (!op.has_input(i)) continue;
    const TypeSet allowed = TypesOf(op.node().op, op.opset(), i);
    if (allowed & Bit(op.dtype(i))) continue;
    return op.Error("input ", Quoted(op.value_name(op.node().inputs[i])),
                    " is ", DTypeText(op.dtype(i)), " where opset ", op.opset(),
                    " takes ", TypesText(allowed), "; ", Remedy(op, i));
  }
  return absl::OkStatus();
}

}  // namespace tilewright
