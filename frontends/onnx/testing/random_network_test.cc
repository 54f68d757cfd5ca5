#include "frontends/onnx/testing/random_network.h"

#include <map>
#include <set>
#include <string>

#include "base/status_matchers.h"
#include "frontends/onnx/import_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/ir/verifier.h"

namespace tilewright {
namespace {

TEST(RandomNetworkTest, EqualSeedsGiveEqualModels) {
  EXPECT_EQ(RandomNetwork(7).SerializeAsString(),
            RandomNetwork(7).SerializeAsString());
  EXPECT_NE(RandomNetwork(7).SerializeAsString(),
            RandomNetwork(8).SerializeAsString());
}

TEST(RandomNetworkTest, EveryNetworkImports) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    const absl::StatusOr<ImportedModel> model =
        ImportModelProto(RandomNetwork(seed));
    ASSERT_TRUE(model.ok()) << "seed " << seed << ": " << model.status();
    TW_EXPECT_OK(VerifyGraph(model->graph)) << "seed " << seed;
    EXPECT_EQ(model->inputs.size(), 1) << "seed " << seed;
  }
}

TEST(RandomNetworkTest, AllKindsOfLayersOccur) {
  std::set<std::string> operators;
  std::set<int64_t> strides, dilations;
  bool depthwise = false, grouped = false;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    const onnx::ModelProto model = RandomNetwork(seed);
    std::map<std::string, int64_t> channels;
    for (const onnx::NodeProto& node : model.graph().node()) {
      operators.insert(node.op_type());
      if (node.op_type() != "Conv") continue;
      for (const onnx::AttributeProto& attribute : node.attribute()) {
        if (attribute.name() == "strides") strides.insert(attribute.ints(0));
        if (attribute.name() == "dilations")
          dilations.insert(attribute.ints(0));
        if (attribute.name() != "group" || attribute.i() == 1) continue;
        for (const onnx::TensorProto& weights : model.graph().initializer()) {
          if (weights.name() != node.input(1)) continue;
          (weights.dims(1) == 1 ? depthwise : grouped) = true;
        }
      }
    }
  }
  for (const char* op : {"Conv",
                         "ConvTranspose",
                         "MatMul",
                         "Gemm",
                         "BatchNormalization",
                         "InstanceNormalization",
                         "LayerNormalization",
                         "Relu",
                         "Clip",
                         "Sigmoid",
                         "HardSwish",
                         "Erf",
                         "Softmax",
                         "MaxPool",
                         "AveragePool",
                         "GlobalAveragePool",
                         "DepthToSpace",
                         "SpaceToDepth",
                         "Resize",
                         "Pad",
                         "Concat",
                         "Split",
                         "Slice",
                         "Transpose",
                         "Gather",
                         "PRelu"})
    EXPECT_TRUE(operators.count(op)) << op;
  EXPECT_GE(strides.size(), 3);
  EXPECT_GE(dilations.size(), 3);
  EXPECT_TRUE(depthwise);
  EXPECT_TRUE(grouped);
}

}  // namespace
}  // namespace tilewright
