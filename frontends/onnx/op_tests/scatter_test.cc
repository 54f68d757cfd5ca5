// The Scatter family against plain loops that write one update after the other,
// with positions that are known when compiling and with positions that are not.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_tests/op_testing.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using Shape = std::vector<int64_t>;

int64_t Elements(const Shape& shape) {
  int64_t product = 1;
  for (const int64_t extent : shape) product *= extent;
  return product;
}

struct Case {
  std::string op;
  Shape data, indices, updates;
  std::vector<int64_t> positions;
  int axis = 0;
  std::string reduction = "none";
};

float Join(const std::string& reduction, float there, float update) {
  if (reduction == "add") return there + update;
  if (reduction == "mul") return there * update;
  if (reduction == "max") return std::max(there, update);
  if (reduction == "min") return std::min(there, update);
  return update;
}

// The result of ONNX's reference, on row-major data.
Values Expected(const Case& c, Values data, const Values& updates) {
  const auto write = [&](int64_t to, float update) {
    data[to] = Join(c.reduction, data[to], update);
  };
  if (c.op == "ScatterND") {
    const int64_t depth = c.indices.back();
    int64_t block = 1;
    for (size_t d = depth; d < c.data.size(); ++d) block *= c.data[d];
    for (int64_t u = 0; u < Elements(c.indices) / depth; ++u) {
      int64_t to = 0;
      for (int64_t k = 0; k < depth; ++k) {
        const int64_t at = c.positions[u * depth + k];
        to = to * c.data[k] + (at < 0 ? at + c.data[k] : at);
      }
      for (int64_t i = 0; i < block; ++i) {
        write(to * block + i, updates[u * block + i]);
      }
    }
    return data;
  }
  Shape at(c.indices.size(), 0);
  for (size_t u = 0; u < updates.size(); ++u) {
    int64_t to = 0;
    for (size_t d = 0; d < at.size(); ++d) {
      const int64_t position = c.positions[u];
      const int64_t wrapped = position < 0 ? position + c.data[d] : position;
      to = to * c.data[d] + (static_cast<int>(d) == c.axis ? wrapped : at[d]);
    }
    write(to, updates[u]);
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < c.indices[d]) break;
      at[d] = 0;
    }
  }
  return data;
}

// The positions are a constant, or come through an input: as floats, which
// are exact and which the helpers can give.
void Check(const Case& c, bool known) {
  Given data = Count(c.data);
  Given updates = Count(c.updates);
  for (float& value : updates.values) value = 0.5f - value;
  ModelBuilder b(18);
  b.Input("data", c.data).Input("updates", c.updates);
  std::vector<Given> inputs = {data, updates};
  if (known) {
    b.Ints("indices", c.indices, c.positions);
  } else {
    b.Input("floats", c.indices);
    b.Node("Cast", {"floats"}, {"indices"}).Int("to", onnx::TensorProto::INT64);
    inputs.push_back(
        {c.indices, Values(c.positions.begin(), c.positions.end())});
  }
  NodeBuilder node = b.Node(c.op, {"data", "indices", "updates"}, {"y"});
  if (c.op != "ScatterND") node.Int("axis", c.axis);
  if (c.reduction != "none") node.String("reduction", c.reduction);
  b.Output("y");
  SCOPED_TRACE(c.op + " " + c.reduction + (known ? " known" : " at run time"));
  ExpectNear(RunModel(b, inputs), c.data,
             Expected(c, data.values, updates.values));
}

void CheckBoth(const Case& c) {
  Check(c, true);
  Check(c, false);
}

// Distinct or not; some count from the end.
std::vector<int64_t> Positions(std::mt19937& random, const Shape& shape,
                               const std::function<int64_t(int64_t)>& extent) {
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < Elements(shape); ++i) {
    const int64_t limit = extent(i);
    positions.push_back(static_cast<int64_t>(random() % (2 * limit)) - limit);
  }
  return positions;
}

TEST(ScatterTest, TheLastOfSeveralUpdatesWins) {
  CheckBoth({"ScatterND", {4}, {3, 1}, {3}, {2, 0, -2}});
  CheckBoth({"ScatterElements", {1, 4}, {1, 3}, {1, 3}, {2, 0, -2}, 1});
}

TEST(ScatterTest, ScatterNdWritesBlocks) {
  std::mt19937 random(1);
  for (int run = 0; run < 20; ++run) {
    Case c{"ScatterND", {3, 1 + run % 4, 2}, {2, 3, 1 + run % 3}, {}, {}};
    const int64_t depth = c.indices.back();
    c.updates = {2, 3};
    c.updates.insert(c.updates.end(), c.data.begin() + depth, c.data.end());
    c.positions = Positions(random, c.indices,
                            [&](int64_t i) { return c.data[i % depth]; });
    CheckBoth(c);
  }
}

TEST(ScatterTest, ScatterElementsWritesAlongItsAxis) {
  std::mt19937 random(2);
  for (int run = 0; run < 20; ++run) {
    Case c{"ScatterElements", {3, 4, 2}, {3, 4, 2}, {}, {}, run % 3};
    c.indices[(run + 1) % 3] -= run % 2;  // shorter beside the axis
    c.indices[run % 3] = 1 + run % 5;     // shorter or longer along it
    c.updates = c.indices;
    c.positions =
        Positions(random, c.indices, [&](int64_t) { return c.data[c.axis]; });
    CheckBoth(c);
  }
}

TEST(ScatterTest, UpdatesAreJoinedWithWhatIsThere) {
  for (const char* reduction : {"add", "mul", "max", "min"}) {
    CheckBoth({"ScatterND", {3, 2}, {3, 1}, {3, 2}, {2, 0, 2}, 0, reduction});
    CheckBoth({"ScatterElements",
               {3, 2},
               {2, 2},
               {2, 2},
               {1, -2, 1, 0},
               0,
               reduction});
  }
}

TEST(ScatterTest, PositionsOutOfRangeWriteNothing) {
  ModelBuilder b(17);
  b.Input("data", {3}).Ints("indices", {2, 1}, {3, -4}).Input("updates", {2});
  b.Node("ScatterND", {"data", "indices", "updates"}, {"y"});
  b.Output("y");
  ExpectNear(RunModel(b, {Vector({1, 2, 3}), Vector({8, 9})}), {3}, {1, 2, 3});
}

TEST(ScatterTest, ScatterOfConstantsIsAConstant) {
  // y = x + scatter(zeros): how exporters write an assignment to a slice.
  ModelBuilder b(17);
  b.Input("x", {4}).Floats("zeros", {4}, {0, 0, 0, 0});
  b.Ints("indices", {2, 1}, {1, 2}).Floats("updates", {2}, {5, 6});
  b.Node("ScatterND", {"zeros", "indices", "updates"}, {"mask"});
  b.Node("Add", {"x", "mask"}, {"y"});
  b.Output("y");
  const auto model = ImportModelProto(b.model());
  ASSERT_TRUE(model.ok()) << model.status();
  int computes = 0;
  for (const Tensor& tensor : model->graph.tensors()) {
    computes += tensor.kind == TensorKind::kCompute;
  }
  EXPECT_EQ(computes, 1);
}

TEST(ScatterTest, ShapesThatDoNotFitAreRefused) {
  ModelBuilder b(17);
  b.Input("data", {4, 3}).Ints("indices", {2, 1}, {1, 2});
  b.Input("updates", {2, 2});
  b.Node("ScatterND", {"data", "indices", "updates"}, {"y"});
  b.Output("y");
  const auto model = ImportModelProto(b.model());
  EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(model.status().message()).find("[2, 2]"),
            std::string::npos)
      << model.status();
}

}  // namespace
}  // namespace tilewright
