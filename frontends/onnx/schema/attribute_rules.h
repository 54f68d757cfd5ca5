// Which attributes the definitions of the operators have, and what each may
// hold. Source: the operator schemas of ONNX 1.12 (opsets to 17, compared by
// attribute_rules_test) and the operator documents of ONNX 1.20 (18 to 25).
#ifndef TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_ATTRIBUTE_RULES_H_
#define TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_ATTRIBUTE_RULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "frontends/onnx/graph/onnx_graph.h"

namespace tilewright {

// The values that an attribute may hold; in a list, every entry.
struct AttributeDomain {
  Attribute::Type type;
  int64_t least = INT64_MIN;  // of integers
  int64_t most = INT64_MAX;
  const char* words = nullptr;  // of strings: "none sum mean"; null: any
};

enum class Presence { kOptional, kRequired };

// An attribute of an operator in the opsets from `since` to before `until`.
struct AttributeRule {
  const char* op;
  const char* name;
  AttributeDomain domain;
  int since = 1;
  int until = 1000;
  Presence presence = Presence::kOptional;
};

// The rules of one operator in one opset. They live for ever.
std::vector<const AttributeRule*> RulesOf(const std::string& op, int64_t opset);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_ATTRIBUTE_RULES_H_
