// What is computed when importing beside the same nodes computed when running.
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_tests/op_testing.h"
#include "gtest/gtest.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {
namespace {

using Dims = std::vector<int64_t>;

struct Node {
  std::string op;
  std::vector<Dims> ints;  // inputs behind the constant
  Attributes attributes = None;
  int times = 1;  // that the constant is an input
};

// y = x + node of w, where w is a constant or an input and x is zero.
Outcome Run(bool constant, const Given& w, const Node& node) {
  ModelBuilder b(17);
  std::vector<Given> inputs = {{{1}, {0}}};
  b.Input("x", {1});
  if (constant) {
    b.Floats("w", w.shape, w.values);
  } else {
    b.Input("w", w.shape);
    inputs.push_back(w);
  }
  std::vector<std::string> from(static_cast<size_t>(node.times), "w");
  for (const Dims& values : node.ints) {
    from.push_back("i" + std::to_string(from.size()));
    b.Ints(from.back(), {static_cast<int64_t>(values.size())}, values);
  }
  node.attributes(b.Node(node.op, from, {"moved"}));
  b.Node("Add", {"x", "moved"}, {"y"});
  b.Output("y");
  return RunModel(b, inputs);
}

void ExpectFoldedAsRun(const Given& w, const Node& node) {
  SCOPED_TRACE(node.op);
  const Outcome folded = Run(true, w, node);
  const Outcome run = Run(false, w, node);
  EXPECT_EQ(folded.shape, run.shape);
  EXPECT_EQ(folded.values, run.values);
}

class FoldConstantsTest : public ::testing::Test {
 protected:
  int64_t Draw(int64_t least, int64_t most) {
    return random_.UniformInt(least, most);
  }
  Dims DrawShape() {
    Dims shape(static_cast<size_t>(Draw(1, 4)));
    for (int64_t& extent : shape) extent = Draw(1, 20);
    return shape;
  }

  Random random_{3};
};

TEST_F(FoldConstantsTest, Transpositions) {
  for (int i = 0; i < 40; ++i) {
    const Dims shape = DrawShape();
    Dims order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    for (size_t d = order.size(); d-- > 1;)
      std::swap(order[d],
                order[static_cast<size_t>(Draw(0, static_cast<int64_t>(d)))]);
    ExpectFoldedAsRun(Count(shape), {"Transpose", {}, [&](NodeBuilder n) {
                                       n.Ints("perm", order);
                                     }});
  }
}

TEST_F(FoldConstantsTest, Broadcasts) {
  for (int i = 0; i < 40; ++i) {
    Dims shape = DrawShape();
    Dims to = shape;
    for (int64_t& extent : shape) extent = Draw(0, 1) == 0 ? 1 : extent;
    to.insert(to.begin(), Draw(1, 3));
    ExpectFoldedAsRun(Count(shape), {"Expand", {to}});
  }
}

TEST_F(FoldConstantsTest, Slices) {
  for (int i = 0; i < 40; ++i) {
    const Dims shape = DrawShape();
    Dims starts, ends, axes, steps;
    for (size_t d = 0; d < shape.size(); ++d) {
      const int64_t from = Draw(0, shape[d] - 1), to = Draw(0, shape[d] - 1);
      const bool back = to < from;
      axes.push_back(static_cast<int64_t>(d));
      starts.push_back(from);
      // One behind the last that is read; -shape - 1 is before the first.
      ends.push_back(back ? (to == 0 ? -shape[d] - 1 : to - 1) : to + 1);
      steps.push_back((back ? -1 : 1) * Draw(1, 3));
    }
    ExpectFoldedAsRun(Count(shape), {"Slice", {starts, ends, axes, steps}});
  }
}

TEST_F(FoldConstantsTest, PartsBehindEachOther) {
  for (int i = 0; i < 20; ++i) {
    const Dims shape = DrawShape();
    const int64_t axis = Draw(0, static_cast<int64_t>(shape.size()) - 1);
    ExpectFoldedAsRun(
        Count(shape),
        {"Concat", {}, [&](NodeBuilder n) { n.Int("axis", axis); }, 3});
  }
}

// More elements than are evaluated one by one.
TEST_F(FoldConstantsTest, LargeWeightsInAnotherOrder) {
  ModelBuilder b(17);
  const int64_t rows = 3000, columns = 2000;
  b.Input("x", {1});
  b.Floats("w", {rows, columns}, Count({rows, columns}).values);
  for (const char* half : {"a", "b"}) {
    const int64_t first = *half == 'a' ? rows / 2 : 0;
    const std::string from = std::string("from") + half,
                      to = std::string("to") + half;
    b.Ints(from, {1}, {first}).Ints(to, {1}, {first + rows / 2});
    b.Node("Slice", {"w", from, to}, {half});
  }
  b.Node("Concat", {"a", "b"}, {"c"}).Int("axis", 0);
  b.Node("Add", {"x", "c"}, {"y"});
  b.Output("y");
  const absl::StatusOr<ImportedModel> model = ImportModelProto(b.model());
  ASSERT_THAT(model.status(), IsOk());
  int computes = 0;
  for (const Tensor& tensor : model->graph.tensors())
    computes += tensor.kind == TensorKind::kCompute;
  EXPECT_EQ(computes, 1);
}

}  // namespace
}  // namespace tilewright
