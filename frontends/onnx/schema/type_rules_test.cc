// The table beside the operator schemas of the ONNX library that is installed.
#include "frontends/onnx/schema/type_rules.h"

#include <string>

#include "frontends/onnx/ops/op_table.h"
#include "frontends/onnx/schema/schema_testing.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

// "float" for f32.
std::string OnnxName(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return "int8";
    case DType::kInt16:
      return "int16";
    case DType::kInt32:
      return "int32";
    case DType::kInt64:
      return "int64";
    case DType::kUInt8:
      return "uint8";
    case DType::kUInt16:
      return "uint16";
    case DType::kUInt32:
      return "uint32";
    case DType::kUInt64:
      return "uint64";
    case DType::kFloat16:
      return "float16";
    case DType::kBFloat16:
      return "bfloat16";
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    case DType::kBool:
      break;
  }
  return "bool";
}

TypeSet SchemaTypes(const onnx::OpSchema::FormalParameter& input) {
  TypeSet types = 0;
  for (int d = 0; d <= static_cast<int>(DType::kFloat64); ++d) {
    const DType dtype = static_cast<DType>(d);
    for (const auto& name : input.GetTypes()) {
      if (*name == "tensor(" + OnnxName(dtype) + ")") types |= Bit(dtype);
    }
  }
  return types;
}

TEST(TypeRulesTest, TypesAreThoseOfTheDefinitions) {
  ForEachSchema([](const std::string& name, int opset, const OpDef&,
                   const onnx::OpSchema& schema) {
    for (size_t i = 0; i < schema.inputs().size(); ++i) {
      const onnx::OpSchema::FormalParameter& input = schema.inputs()[i];
      EXPECT_EQ(TypesText(TypesOf(name, opset, static_cast<int>(i))),
                TypesText(SchemaTypes(input)))
          << "input " << i;
      if (input.GetOption() != onnx::OpSchema::Variadic) continue;
      EXPECT_EQ(TypesOf(name, opset, 20), SchemaTypes(input))
          << "further inputs";
    }
  });
}

// Nothing installed says what these allow: without a rule all inputs would take
// everything.
TEST(TypeRulesTest, OperatorsNewerThanTheInstalledDefinitionsHaveARule) {
  int newer = 0;
  for (const std::string& name : OpTable().names()) {
    if (onnx::OpSchemaRegistry::Schema(name, kMaxOpset, "") != nullptr)
      continue;
    ++newer;
    TypeSet all = Bit(DType::kBool);
    for (int input = 0; input < 3; ++input)
      all &= TypesOf(name, kMaxOpset, input);
    EXPECT_EQ(all, 0) << name;
  }
  EXPECT_GT(newer, 0);
}

TEST(TypeRulesTest, LaterDefinitionsAllowMore) {
  EXPECT_EQ(TypesText(TypesOf("IsInf", 19, 0)), "f32 or f64");
  EXPECT_EQ(TypesText(TypesOf("IsInf", 20, 0)), "f16, bf16, f32 or f64");
  EXPECT_EQ(TypesText(TypesOf("Conv", 21, 2)), "f16, f32 or f64");
  EXPECT_EQ(TypesText(TypesOf("Conv", 22, 2)), "f16, bf16, f32 or f64");
}

}  // namespace
}  // namespace tilewright
