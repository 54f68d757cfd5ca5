// The indices of MaxPool beside loops over windows, and MaxUnpool beside a loop
// that writes each element where its index says.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_tests/op_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using Shape = std::vector<int64_t>;

struct Windows {
  Shape kernel, strides, pads, dilations;
  int64_t storage_order = 0;
};

// The index of the first maximum of the window at `out`.
int64_t FirstMaximum(const Given& x, const Windows& w, const Shape& out) {
  const size_t dims = w.kernel.size();
  const Shape plane(x.shape.begin() + 2, x.shape.end());
  const int64_t first = (out[0] * x.shape[1] + out[1]) * Total(plane);
  float best = 0;
  int64_t found = -1;
  Shape tap(dims, 0);
  do {
    Shape at;
    bool inside = true;
    for (size_t d = 0; d < dims; ++d) {
      at.push_back(out[2 + d] * w.strides[d] - w.pads[d] +
                   tap[d] * w.dilations[d]);
      inside &= at[d] >= 0 && at[d] < plane[d];
    }
    if (!inside) continue;
    int64_t row_major = 0, column_major = 0;
    for (size_t d = 0; d < dims; ++d) {
      row_major = row_major * plane[d] + at[d];
      column_major = column_major * plane[dims - 1 - d] + at[dims - 1 - d];
    }
    const float value = x.values[static_cast<size_t>(first + row_major)];
    if (found < 0 || value > best || (std::isnan(value) && !std::isnan(best))) {
      best = value;
      found = first + (w.storage_order == 0 ? row_major : column_major);
    }
  } while (Next(tap, w.kernel));
  return found;
}

Shape PooledShape(const Shape& x, const Windows& w) {
  Shape shape = {x[0], x[1]};
  const size_t dims = w.kernel.size();
  for (size_t d = 0; d < dims; ++d) {
    const int64_t room = x[2 + d] + w.pads[d] + w.pads[dims + d] -
                         (w.kernel[d] - 1) * w.dilations[d] - 1;
    shape.push_back(room / w.strides[d] + 1);
  }
  return shape;
}

void ExpectIndices(const Given& x, const Windows& w) {
  ModelBuilder b(17);
  b.Input("x", x.shape);
  b.Node("MaxPool", {"x"}, {"y", "indices"})
      .Ints("kernel_shape", w.kernel)
      .Ints("strides", w.strides)
      .Ints("pads", w.pads)
      .Ints("dilations", w.dilations)
      .Int("storage_order", w.storage_order);
  b.model().mutable_graph()->add_output()->set_name("indices");
  const Shape shape = PooledShape(x.shape, w);
  Values expected;
  Shape out(shape.size(), 0);
  do {
    expected.push_back(static_cast<float>(FirstMaximum(x, w, out)));
  } while (Next(out, shape));
  ExpectNear(RunModel(b, {x}), shape, expected);
}

// Few different numbers, so that many are equal.
Given Draw(const Shape& shape, Random& random) {
  Given x = {shape, {}};
  const float drawn[] = {-INFINITY, -1, 0, 2, 2, NAN};
  for (int64_t e = 0; e < Total(shape); ++e)
    x.values.push_back(drawn[random.UniformInt(0, 5)]);
  return x;
}

TEST(MaxPoolIndicesTest, AreThoseOfTheFirstMaximum) {
  Random random(5);
  for (const int64_t order : {0, 1}) {
    ExpectIndices(Draw({2, 3, 9}, random), {{3}, {2}, {1, 1}, {1}, order});
    ExpectIndices(Draw({2, 2, 5, 7}, random),
                  {{2, 3}, {2, 1}, {1, 0, 0, 2}, {1, 1}, order});
    ExpectIndices(Draw({1, 2, 8, 9}, random),
                  {{3, 2}, {1, 2}, {0, 1, 1, 0}, {2, 3}, order});
    ExpectIndices(Draw({2, 2, 4, 3, 5}, random),
                  {{2, 2, 3}, {2, 1, 2}, {0, 1, 1, 1, 0, 0}, {1, 1, 1}, order});
  }
}

// Bytes are never below what stands for the padding.
TEST(MaxPoolIndicesTest, PaddingIsNoMaximum) {
  ModelBuilder b(12);
  b.Input("x", {1, 1, 3});
  b.Node("Cast", {"x"}, {"bytes"}).Int("to", onnx::TensorProto::UINT8);
  b.Node("MaxPool", {"bytes"}, {"y", "indices"})
      .Ints("kernel_shape", {2})
      .Ints("pads", {1, 1});
  b.model().mutable_graph()->add_output()->set_name("indices");
  ExpectNear(RunModel(b, {{{1, 1, 3}, {0, 0, 0}}}), {1, 1, 4}, {0, 0, 1, 2});
}

// One node on `x` and `indices`, which are constants or come out of a cast.
Outcome Unpool(const Given& x, const Shape& indices, bool constant,
               const Attributes& attributes, const Shape& output_shape = {}) {
  ModelBuilder b(11);
  b.Input("x", x.shape);
  std::vector<std::string> inputs = {"x", "indices"};
  std::vector<Given> given = {x};
  if (constant) {
    b.Ints("indices", x.shape, indices);
  } else {
    b.Input("given", x.shape);
    b.Node("Cast", {"given"}, {"indices"}).Int("to", onnx::TensorProto::INT64);
    given.push_back({x.shape, {indices.begin(), indices.end()}});
  }
  if (!output_shape.empty()) {
    b.Ints("shape", {static_cast<int64_t>(output_shape.size())}, output_shape);
    inputs.push_back("shape");
  }
  attributes(b.Node("MaxUnpool", inputs, {"y"}));
  b.model().mutable_graph()->add_output()->set_name("y");
  return RunModel(b, given);
}

TEST(MaxUnpoolTest, ElementsGoWhereTheirIndicesSay) {
  Random random(6);
  const Given x = SmallIntegers({2, 3, 3, 2}, random);
  const Shape pooled = {2, 3, 5, 4};  // (3 - 1) 2 + 2 - 1, (2 - 1) 3 + 1
  Shape indices;
  Values expected(static_cast<size_t>(Total(pooled)), 0);
  for (const float value : x.values) {
    indices.push_back(random.UniformInt(0, Total(pooled) - 1));
    expected[static_cast<size_t>(indices.back())] = value;
  }
  for (const bool constant : {false, true}) {
    ExpectNear(Unpool(x, indices, constant,
                      [](NodeBuilder n) {
                        n.Ints("kernel_shape", {2, 1}).Ints("strides", {2, 3});
                        n.Ints("pads", {1, 0, 0, 0});
                      }),
               pooled, expected);
  }
}

// The last one wins, and what points outside is nowhere.
TEST(MaxUnpoolTest, OfSeveralTheLastIsKept) {
  for (const bool constant : {false, true}) {
    ExpectNear(Unpool({{1, 1, 4}, {5, 6, 7, 8}}, {2, 2, 9, -1}, constant,
                      [](NodeBuilder n) { n.Ints("kernel_shape", {2}); }),
               {1, 1, 5}, {0, 0, 6, 0, 0});
  }
}

TEST(MaxUnpoolTest, ALargerOutputIsFilledUpWithZeros) {
  ExpectNear(Unpool({{1, 1, 1, 2}, {5, 6}}, {1, 6}, false,
                    [](NodeBuilder n) {
                      n.Ints("kernel_shape", {2, 2}).Ints("strides", {2, 2});
                    },
                    {1, 1, 3, 5}),
             {1, 1, 3, 5}, {0, 5, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0});
}

// MaxUnpool, with the strides of `undone`, of the doubled result of a MaxPool
// whose windows are `done`.
void ExpectUndone(const Windows& done, const Windows& undone) {
  Random random(7);
  const Given x = SmallIntegers({2, 2, 7, 6}, random);
  ModelBuilder b(11);
  b.Input("x", x.shape);
  b.Node("MaxPool", {"x"}, {"pooled", "indices"})
      .Ints("kernel_shape", done.kernel)
      .Ints("strides", done.strides)
      .Ints("pads", done.pads)
      .Int("storage_order", done.storage_order);
  b.Node("Add", {"pooled", "pooled"}, {"twice"});
  b.Node("MaxUnpool", {"twice", "indices"}, {"y"})
      .Ints("kernel_shape", undone.kernel)
      .Ints("strides", undone.strides)
      .Ints("pads", undone.pads);
  b.Output("y");
  const Shape pooled = PooledShape(x.shape, done);
  Shape shape = {2, 2};
  for (size_t d = 0; d < 2; ++d) {
    shape.push_back((pooled[2 + d] - 1) * undone.strides[d] + undone.kernel[d] -
                    undone.pads[d] - undone.pads[2 + d]);
  }
  Values expected(static_cast<size_t>(Total(shape)), 0);
  Windows row_major = done;
  row_major.storage_order = 0;
  Shape out(4, 0);
  do {
    const int64_t from = FirstMaximum(x, row_major, out);
    const int64_t to = FirstMaximum(x, done, out);
    if (to < Total(shape))
      expected[static_cast<size_t>(to)] =
          2 * x.values[static_cast<size_t>(from)];
  } while (Next(out, pooled));
  ExpectNear(RunModel(b, {x}), shape, expected);
}

TEST(MaxUnpoolTest, UndoesMaxPool) {
  const Windows pairs = {{3, 2}, {2, 2}, {0, 0, 0, 0}, {1, 1}};
  const Windows padded = {{3, 4}, {2, 1}, {1, 1, 1, 2}, {1, 1}};
  ExpectUndone(pairs, pairs);
  ExpectUndone(padded, padded);
}

// Indices that do not lie in the windows of their own elements.
TEST(MaxUnpoolTest, TakesTheIndicesOfOtherWindows) {
  const Windows plain = {{3, 2}, {2, 2}, {0, 0, 0, 0}, {1, 1}};
  Windows columns = plain, wide = plain;
  columns.storage_order = 1;
  wide.strides = {3, 3};
  ExpectUndone(columns, plain);
  ExpectUndone(plain, wide);
}

TEST(MaxUnpoolTest, WhatDoesNotFitIsRefused) {
  const auto status = [](const Shape& x, const Shape& indices,
                         const Shape& output_shape, const Shape& pads) {
    ModelBuilder b(11);
    b.Input("x", x).Input("i", indices, onnx::TensorProto::INT64);
    b.Ints("shape", {static_cast<int64_t>(output_shape.size())}, output_shape);
    b.Node("MaxUnpool", {"x", "i", "shape"}, {"y"})
        .Ints("kernel_shape", {2})
        .Ints("strides", {2})
        .Ints("pads", pads);
    b.Output("y");
    return ImportModelProto(b.model()).status();
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(status({1, 1, 4}, {1, 1, 3}, {1, 1, 8}, {0, 0}),
              StatusIs(kInvalid, HasSubstr("indices of shape [1, 1, 3]")));
  EXPECT_THAT(status({1, 1, 4}, {1, 1, 4}, {1, 1, 7}, {0, 0}),
              StatusIs(kInvalid, HasSubstr("output_shape is [1, 1, 7]")));
  EXPECT_THAT(status({1, 1, 4}, {1, 1, 4}, {2, 1, 8}, {0, 0}),
              StatusIs(kInvalid, HasSubstr("output_shape is [2, 1, 8]")));
  EXPECT_THAT(status({1, 1, 4}, {1, 1, 4}, {1, 1, 8}, {4, 4}),
              StatusIs(kInvalid, HasSubstr("no more than the padding")));
  EXPECT_THAT(status({1, 1, 1 << 20}, {1, 1, 1 << 20}, {1, 1, 1 << 21}, {0, 0}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("finding 2097152 positions among 1048576")));
}

}  // namespace
}  // namespace tilewright
