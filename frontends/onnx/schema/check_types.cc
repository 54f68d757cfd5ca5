#include "frontends/onnx/schema/check_types.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
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

// Whether `op` only moves the elements of its first input.
bool MovesElements(absl::string_view op) {
  return op == "Flatten" || op == "Identity" || op == "Reshape" ||
         op == "Squeeze" || op == "Transpose" || op == "Unsqueeze";
}

// Whether the result is no such integer, or `op` says how wide it is.
bool Converts(absl::string_view op) {
  return op == "Cast" || op == "CastLike" || op == "DequantizeLinear" ||
         op == "QuantizeLinear" || op == "Shape" || op == "Size";
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

absl::Status PassNarrowTypes(OpContext& op) {
  // What a rewrite chose computes with 8 bits.
  if (op.node().is_rewritten) return absl::OkStatus();
  for (int i = 0; i < op.num_inputs(); ++i) {
    if (!op.has_input(i) || op.input(i).narrow_bits == 0) continue;
    const int bits = op.input(i).narrow_bits;
    if (MovesElements(op.node().op)) {
      if (i == 0) op.outputs()[0].narrow_bits = bits;
    } else if (!Converts(op.node().op)) {
      return op.Unsupported(
          "input ", Quoted(op.value_name(op.node().inputs[i])), " of type ",
          op.dtype(i) == DType::kInt8 ? "INT" : "UINT", bits);
    }
  }
  return absl::OkStatus();
}

}  // namespace tilewright
