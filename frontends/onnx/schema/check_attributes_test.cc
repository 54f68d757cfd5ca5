// Attributes that the definitions exclude: each is refused in one line that
// names node, attribute and value and says what is allowed.
#include <functional>
#include <string>
#include <vector>

#include "base/status_matchers.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Attributes = std::function<void(NodeBuilder)>;

struct Case {
  const char* op;
  int64_t opset;
  Attributes attributes;
  const char* message;  // empty: it is fine
};

absl::Status Import(const Case& one) {
  ModelBuilder builder(one.opset);
  builder.Input("x", {1, 4, 6, 6});
  std::vector<std::string> inputs = {"x"};
  if (std::string(one.op) == "Conv") {
    builder.Floats("w", {4, 4, 1, 1}, std::vector<float>(16, 1));
    inputs.push_back("w");
  }
  if (std::string(one.op) == "QuantizeLinear") {
    builder.Floats("s", {}, {1});
    inputs.push_back("s");
  }
  if (std::string(one.op) == "Concat") inputs.push_back("x");
  if (std::string(one.op) == "Constant") inputs.clear();
  one.attributes(builder.Node(one.op, inputs, {"y"}).Name("n"));
  builder.Output("y");
  return ImportModelProto(builder.model()).status();
}

std::vector<Case> Cases() {
  return {
      {"ReduceSum", 13, [](NodeBuilder n) { n.Int("keepdims", 5); },
       "node 'n' (ReduceSum): attribute 'keepdims' is 5; it must be 0 or 1"},
      {"ReduceSum", 13, [](NodeBuilder n) { n.Int("keepdims", 0); }, ""},
      {"Cast", 19, [](NodeBuilder n) { n.Int("to", 6).Int("saturate", 2); },
       "attribute 'saturate' is 2; it must be 0 or 1"},
      {"Cast", 18, [](NodeBuilder n) { n.Int("to", 6).Int("saturate", 1); },
       "attribute 'saturate' does not exist in opset 18; remove it or fix its "
       "name"},
      {"Cast", 18, [](NodeBuilder) {},
       "attribute 'to' is missing; export the model again"},
      {"QuantizeLinear", 19, [](NodeBuilder n) { n.Int("saturate", -1); },
       "attribute 'saturate' is -1; it must be 0 or 1"},
      {"ArgMax", 12, [](NodeBuilder n) { n.Int("select_last_index", 2); },
       "attribute 'select_last_index' is 2; it must be 0 or 1"},
      {"ArgMax", 11, [](NodeBuilder n) { n.Int("select_last_index", 1); },
       "attribute 'select_last_index' does not exist in opset 11"},
      {"Conv", 13, [](NodeBuilder n) { n.Int("group", 0); },
       "attribute 'group' is 0; it must be at least 1"},
      {"Conv", 13,
       [](NodeBuilder n) {
         n.Ints("strides", {1, 0});
       },
       "attribute 'strides' is [1, 0]; its entries must be at least 1"},
      {"Conv", 13,
       [](NodeBuilder n) {
         n.Ints("dilations", {-1, 1});
       },
       "attribute 'dilations' is [-1, 1]; its entries must be at least 1"},
      {"Conv", 13,
       [](NodeBuilder n) {
         n.Ints("strides", {1, 1, 1});
       },
       "attribute 'strides' has 3 entries where 2 are needed"},
      {"Conv", 13, [](NodeBuilder n) { n.Int("strides", 1); },
       "attribute 'strides' must be a list of integers"},
      {"Conv", 13, [](NodeBuilder n) { n.String("auto_pad", "SAME"); },
       "attribute 'auto_pad' is 'SAME'; it must be one of NOTSET, SAME_UPPER, "
       "SAME_LOWER, VALID"},
      {"Conv", 13, [](NodeBuilder n) { n.Int("colour", 1); },
       "attribute 'colour' does not exist in opset 13"},
      {"Conv", 13,
       [](NodeBuilder n) {
         n.Ints("kernel_shape", {1, 1});
       },
       ""},
      {"MaxPool", 12, [](NodeBuilder) {},
       "attribute 'kernel_shape' is missing"},
      {"MaxPool", 12,
       [](NodeBuilder n) {
         n.Ints("kernel_shape", {2, 2}).Int("ceil_mode", 3);
       },
       "attribute 'ceil_mode' is 3; it must be 0 or 1"},
      {"LpNormalization", 13, [](NodeBuilder n) { n.Int("p", 3); },
       "attribute 'p' is 3; it must be between 1 and 2"},
      {"Concat", 13, [](NodeBuilder) {}, "attribute 'axis' is missing"},
      {"Concat", 13, [](NodeBuilder n) { n.Int("axis", 4); },
       "axis 4 is outside a tensor of rank 4"},
      {"Softmax", 13, [](NodeBuilder n) { n.Int("axis", -5); },
       "axis -5 is outside a tensor of rank 4"},
      {"Softmax", 13, [](NodeBuilder n) { n.Float("axis", 1); },
       "attribute 'axis' must be an integer"},
      {"DepthToSpace", 13,
       [](NodeBuilder n) { n.Int("blocksize", 2).String("mode", "crd"); },
       "attribute 'mode' is 'crd'; it must be one of DCR, CRD"},
      {"Gelu", 20, [](NodeBuilder n) { n.String("approximate", "erf\n"); },
       "attribute 'approximate' is 'erf\\n'; it must be one of none, tanh"},
      {"Gelu", 20, [](NodeBuilder n) { n.String("approximate", "tanh"); }, ""},
      {"Constant", 13,
       [](NodeBuilder n) { n.Int("value_int", 1).Float("value_float", 1); },
       "has 2 attributes; exactly one must give its value"},
  };
}

TEST(CheckAttributesTest, ValuesOutsideTheDefinitionAreNamed) {
  for (const Case& one : Cases()) {
    const absl::Status status = Import(one);
    if (*one.message == '\0') {
      TW_EXPECT_OK(status) << one.op;
      continue;
    }
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                 HasSubstr(one.message)))
        << one.op;
    EXPECT_THAT(std::string(status.message()), HasSubstr("'n'"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("; "));
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("\n")));
  }
}

TEST(CheckAttributesTest, NodesThatNobodyNeedsAreNotLookedAt) {
  ModelBuilder builder(13);
  builder.Input("x", {2});
  builder.Node("Relu", {"x"}, {"y"});
  builder.Node("ReduceSum", {"x"}, {"unused"}).Int("keepdims", 5);
  builder.Output("y");
  TW_EXPECT_OK(ImportModelProto(builder.model()).status());
}

}  // namespace
}  // namespace tilewright
