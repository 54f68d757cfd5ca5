#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/testing/imported.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using Strings = std::vector<std::string>;

// Two groups of 2 channels, as exporters for opset 17 write their norm.
ModelBuilder NormOfGroups(const std::vector<int64_t>& factor_shape) {
  ModelBuilder b;
  b.Input("X", {1, 4, 1, 4}).Ints("grouped", {3}, {0, 2, -1});
  b.Ints("image", {4}, {1, 4, 1, 4}).Floats("scale", {2}, {1, 2});
  b.Floats("bias", {2}, {0, 1}).Floats("shift", {4, 1, 1}, {0, 1, 2, 3});
  b.Floats("factor", factor_shape, {1, 2, 3, 4});
  b.Node("Reshape", {"X", "grouped"}, {"G"});
  b.Node("InstanceNormalization", {"G", "scale", "bias"}, {"N"})
      .Float("epsilon", 0);
  b.Node("Reshape", {"N", "image"}, {"I"});
  b.Node("Mul", {"I", "factor"}, {"M"});
  b.Node("Add", {"shift", "M"}, {"Y"});
  b.Output("Y");
  return b;
}

TEST(FindGroupNormsTest, ReshapedInstanceNormsAreNormsOfGroups) {
  ModelBuilder b = NormOfGroups({4, 1, 1});
  const ImportedModel model = Import(b);
  EXPECT_EQ(Hints(model), (Strings{"reshape", "reduce", "mean", "reduce",
                                   "scale", "groupnorm"}));
  // Means 2 and 0, standard deviations 2 and 3.
  const std::vector<float> y =
      Evaluate(model, {Floats({1, 4, 1, 4}, {0, 4, 0, 4, 0, 4, 0, 4,  //
                                             3, -3, 3, -3, 3, -3, 3, -3})});
  const std::vector<float> expected = {-1, 1,  -1, 1,  -1, 3,  -1, 3,
                                       11, -1, 11, -1, 15, -1, 15, -1};
  ASSERT_EQ(y.size(), expected.size());
  for (size_t i = 0; i < y.size(); ++i)
    EXPECT_NEAR(y[i], expected[i], 1e-5) << i;
}

// As many columns as channels: a factor for each is no factor of channels.
TEST(FindGroupNormsTest, NormsOfGroupsKeepFactorsOfColumns) {
  ModelBuilder b = NormOfGroups({4});
  EXPECT_EQ(Hints(Import(b)), (Strings{"reshape", "reduce", "mean", "reduce",
                                       "scale", "groupnorm", "mul", "add"}));
}

TEST(FindGroupNormsTest, InstanceNormsThatAreReadGroupedStay) {
  ModelBuilder b = NormOfGroups({4, 1, 1});
  b.Node("Relu", {"N"}, {"R"});
  b.Output("R");
  const std::vector<std::string> hints = Hints(Import(b));
  EXPECT_EQ(std::count(hints.begin(), hints.end(), "groupnorm"), 0);
  EXPECT_EQ(std::count(hints.begin(), hints.end(), "instancenorm"), 1);
}

}  // namespace
}  // namespace tilewright
