// Which element types the definitions of the operators allow for each input.
// Source: the operator schemas of ONNX 1.12 (opsets to 17, compared by
// type_rules_test) and the operator documents of ONNX 1.20 (18 to 25), as far
// as Tilewright has the types.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_TYPE_RULES_H_
#define TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_TYPE_RULES_H_

#include <cstdint>
#include <string>

#include "tilegraph/expr/dtype.h"

namespace tilewright {

// One bit for each DType.
using TypeSet = uint16_t;

constexpr TypeSet Bit(DType dtype) {
  return static_cast<TypeSet>(1u << static_cast<unsigned>(dtype));
}

// The types that input `input` of the operator may hold in that opset. All
// types of an operator or an opset without a rule.
TypeSet TypesOf(const std::string& op, int64_t opset, int input);

// For messages: "f16, f32 or f64".
std::string TypesText(TypeSet types);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_TYPE_RULES_H_
