// The table beside the operator schemas of the ONNX library that is installed.
#include "frontends/onnx/schema/attribute_rules.h"

#include <map>
#include <string>

#include "frontends/onnx/schema/schema_testing.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

Attribute::Type TypeOf(onnx::AttributeProto::AttributeType type) {
  switch (type) {
    case onnx::AttributeProto::INT:
      return Attribute::Type::kInt;
    case onnx::AttributeProto::FLOAT:
      return Attribute::Type::kFloat;
    case onnx::AttributeProto::STRING:
      return Attribute::Type::kString;
    case onnx::AttributeProto::TENSOR:
      return Attribute::Type::kTensor;
    case onnx::AttributeProto::INTS:
      return Attribute::Type::kInts;
    case onnx::AttributeProto::FLOATS:
      return Attribute::Type::kFloats;
    case onnx::AttributeProto::STRINGS:
      return Attribute::Type::kStrings;
    default:
      return Attribute::Type::kOther;
  }
}

TEST(SchemaTest, AttributesAreThoseOfTheDefinitions) {
  ForEachSchema([](const std::string& name, int opset, const OpDef&,
                   const onnx::OpSchema& schema) {
    std::map<std::string, const AttributeRule*> rules;
    for (const AttributeRule* rule : RulesOf(name, opset)) {
      EXPECT_TRUE(rules.emplace(rule->name, rule).second) << rule->name;
      EXPECT_EQ(schema.attributes().count(rule->name), 1u) << rule->name;
    }
    for (const auto& [attribute, definition] : schema.attributes()) {
      const auto rule = rules.find(attribute);
      if (rule == rules.end()) {
        ADD_FAILURE() << "no rule for " << attribute;
        continue;
      }
      EXPECT_EQ(rule->second->domain.type, TypeOf(definition.type))
          << attribute;
      EXPECT_EQ(rule->second->presence == Presence::kRequired,
                definition.required)
          << attribute;
    }
  });
}

TEST(SchemaTest, CountsOfInputsAreThoseOfTheDefinitions) {
  ForEachSchema([](const std::string& name, int, const OpDef& def,
                   const onnx::OpSchema& schema) {
    // Exporters leave out the regions that no mode of ours reads.
    if (name != "Resize") EXPECT_EQ(def.min_inputs, schema.min_input());
    // "Any number" is bounded here.
    if (schema.max_input() < 1000) {
      EXPECT_EQ(def.max_inputs, schema.max_input());
    }
  });
}

}  // namespace
}  // namespace tilewright
