#include <string>

#include "google/protobuf/unknown_field_set.h"
#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"

namespace tilewright {
namespace {

TEST(OnnxProtoTest, NewerModelsParseAndKeepFieldsOfLaterSchemas) {
  onnx::ModelProto model;
  model.set_ir_version(11);
  model.mutable_graph()->set_name("g");
  auto* opset = model.add_opset_import();
  opset->set_version(25);
  // ModelProto.configuration (26) and NodeProto.device_configurations (10)
  // came with IR 11, NodeProto.overload (8) and TensorProto.FLOAT8E4M3FN (17)
  // after the schema of 1.12.
  auto* node = model.mutable_graph()->add_node();
  node->set_op_type("Relu");
  node->GetReflection()->MutableUnknownFields(node)->AddLengthDelimited(
      8, "overload");
  node->GetReflection()->MutableUnknownFields(node)->AddLengthDelimited(10, "");
  model.GetReflection()->MutableUnknownFields(&model)->AddLengthDelimited(26,
                                                                          "");
  model.mutable_graph()->add_initializer()->set_data_type(17);
  const std::string bytes = model.SerializeAsString();

  onnx::ModelProto parsed;
  ASSERT_TRUE(parsed.ParseFromString(bytes));
  EXPECT_EQ(parsed.opset_import(0).version(), 25);
  EXPECT_EQ(parsed.ir_version(), 11);
  EXPECT_EQ(parsed.graph().initializer(0).data_type(), 17);
  EXPECT_EQ(parsed.graph().node(0).op_type(), "Relu");
  EXPECT_EQ(parsed.SerializeAsString(), bytes);
}

}  // namespace
}  // namespace tilewright
