// What is computed when importing beside the same nodes computed when running.
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_testing.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using Dims = std::vector<int64_t>;

// y = node of w + x, where w is a constant or an input and x is zero.
Outcome Run(bool constant, const Given& w, const char* op, const Dims& to,
            const Attributes& attributes) {
  ModelBuilder b(17);
  std::vector<Given> inputs = {{{1}, {0}}};
  b.Input("x", {1});
  if (constant) {
    b.Floats("w", w.shape, w.values);
  } else {
    b.Input("w", w.shape);
    inputs.push_back(w);
  }
  std::vector<std::string> from = {"w"};
  if (!to.empty()) {
    b.Ints("to", {static_cast<int64_t>(to.size())}, to);
    from.push_back("to");
  }
  attributes(b.Node(op, from, {"moved"}));
  b.Node("Add", {"x", "moved"}, {"y"});
  b.Output("y");
  return RunModel(b, inputs);
}

void ExpectFoldedAsRun(const Given& w, const char* op, const Dims& to,
                       const Attributes& attributes) {
  const Outcome folded = Run(true, w, op, to, attributes);
  const Outcome run = Run(false, w, op, to, attributes);
  EXPECT_EQ(folded.shape, run.shape);
  EXPECT_EQ(folded.values, run.values);
}

TEST(FoldConstantsTest, TranspositionsAndBroadcastsAreThoseOfARun) {
  Random random(3);
  for (int i = 0; i < 60; ++i) {
    Dims shape(static_cast<size_t>(random.UniformInt(1, 4)));
    for (int64_t& extent : shape) extent = random.UniformInt(1, 20);
    Dims order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    for (size_t d = order.size(); d-- > 1;) {
      std::swap(order[d], order[static_cast<size_t>(
                              random.UniformInt(0, static_cast<int64_t>(d)))]);
    }
    SCOPED_TRACE(i);
    ExpectFoldedAsRun(Count(shape), "Transpose", {},
                      [&](NodeBuilder n) { n.Ints("perm", order); });
    Dims to = shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (random.UniformInt(0, 1) == 0) shape[d] = 1;
    }
    to.insert(to.begin(), random.UniformInt(1, 3));
    ExpectFoldedAsRun(Count(shape), "Expand", to, None);
  }
}

}  // namespace
}  // namespace tilewright
