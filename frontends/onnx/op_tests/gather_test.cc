// Gather: positions that are data, and those that are known.
#include <cstdint>
#include <string>
#include <vector>

#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_tests/op_testing.h"
#include "frontends/onnx/testing/imported.h"
#include "gtest/gtest.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {
namespace {

TEST(GatherTest, WrapsNegativePositionsOnce) {
  ExpectNear(RunNode(17, "Gather", {Count({3, 2})}, {{-1, 0}}), {2, 2},
             {5, 6, 1, 2});
  ExpectNear(RunNode(17, "Gather", {Count({2, 3})}, {{2, -3}},
                     [](NodeBuilder n) { n.Int("axis", 1); }),
             {2, 2}, {3, 1, 6, 4});
}

struct Case {
  std::vector<int64_t> shape;
  std::vector<int64_t> positions;
  bool loads;  // the positions, at run time
};

// Those that lie evenly are part of the code: windows, and what is reversed.
TEST(GatherTest, EvenPositionsAreNotLoaded) {
  for (const Case& of : {Case{{2, 3}, {0, 1, 2, 2, 3, 4}, false},
                         Case{{5}, {4, 3, 2, 1, 0}, false},
                         Case{{3}, {-5, -3, -1}, false},
                         Case{{1, 2}, {3, 3}, false},
                         Case{{}, {2}, false},
                         Case{{4}, {0, 1, 2, 2}, true},
                         Case{{2, 2}, {0, 1, 2, 4}, true}}) {
    ModelBuilder builder(17);
    builder.Input("x", {2, 5})
        .Ints("indices", of.shape, of.positions)
        .Output("y");
    builder.Node("Gather", {"x", "indices"}, {"y"}).Int("axis", 1);
    const ImportedModel model = Import(builder);
    bool loads = false;
    for (const Tensor& tensor : model.graph.tensors())
      loads |= tensor.kind == TensorKind::kConstant;
    EXPECT_EQ(loads, of.loads) << ::testing::PrintToString(of.positions);
    std::vector<float> expected;
    for (const int row : {0, 1}) {
      for (const int64_t at : of.positions)
        expected.push_back(
            static_cast<float>(1 + 5 * row + (at < 0 ? at + 5 : at)));
    }
    EXPECT_EQ(
        Evaluate(model, {Floats({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})}),
        expected);
  }
}

}  // namespace
}  // namespace tilewright
