// Element types that the definition of an operator excludes in the model's
// opset: each is refused in one line that says what is allowed.
#include <string>

#include "base/status_matchers.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

absl::Status ImportUnary(const std::string& op, int64_t opset, int type) {
  ModelBuilder builder(opset);
  builder.Input("x", {1, 4, 6, 6}, type).Output("y", {-2}, type);
  auto node = builder.Node(op, {"x"}, {"y"});
  if (op == "MaxPool") node.Ints("kernel_shape", {2, 2});
  return ImportModelProto(builder.model()).status();
}

TEST(CheckTypesTest, TypesOutsideTheDefinitionAreRefused) {
  EXPECT_THAT(ImportUnary("Relu", 13, onnx::TensorProto::INT32),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "node of 'y' (Relu): input 'x' is i32 where opset 13 "
                       "takes f16, bf16, f32 or f64; export the model for "
                       "opset 14 or later"));
  EXPECT_THAT(ImportUnary("MaxPool", 11, onnx::TensorProto::INT8),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "export the model for opset 12 or later"));
  EXPECT_THAT(ImportUnary("Celu", 25, onnx::TensorProto::DOUBLE),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "input 'x' is f64 where opset 25 takes f32; convert it "
                       "before"));
}

TEST(CheckTypesTest, TypesOfTheDefinitionAreTaken) {
  TW_EXPECT_OK(ImportUnary("Relu", 14, onnx::TensorProto::INT32));
  TW_EXPECT_OK(ImportUnary("MaxPool", 12, onnx::TensorProto::INT8));
  TW_EXPECT_OK(ImportUnary("Sin", 22, onnx::TensorProto::BFLOAT16));
}

TEST(CheckTypesTest, EveryInputHasItsOwn) {
  ModelBuilder builder(13);
  builder.Input("x", {4, 6}).Floats("at", {1}, {1}).Output("y");
  builder.Node("Gather", {"x", "at"}, {"y"});
  EXPECT_THAT(ImportModelProto(builder.model()).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "input 'at' is f32 where opset 13 takes i32 or i64"));
}

// The pooling works on the integers, which MaxPool takes since opset 12.
TEST(CheckTypesTest, RewritesAreNotHeldToTheOpset) {
  ModelBuilder builder(11);
  builder.Input("x", {1, 2, 4, 4}, onnx::TensorProto::UINT8).Output("y");
  builder.Floats("scale", {}, {0.5});
  builder.Integers("zero", onnx::TensorProto::UINT8, {}, {128});
  builder.Node("DequantizeLinear", {"x", "scale", "zero"}, {"f"});
  builder.Node("MaxPool", {"f"}, {"y"}).Ints("kernel_shape", {2, 2});
  TW_EXPECT_OK(ImportModelProto(builder.model()).status());
}

}  // namespace
}  // namespace tilewright
