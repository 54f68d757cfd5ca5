#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/testing/imported.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {
namespace {

// s' = s + x; y = s'.
onnx::GraphProto RunningSum() {
  ModelBuilder b;
  b.Input("s", {2}).Input("x", {2});
  b.Node("Add", {"s", "x"}, {"next"});
  b.Node("Identity", {"next"}, {"y"});
  b.Output("next").Output("y");
  return b.model().graph();
}

struct Scanned {
  std::vector<int64_t> shape = {3, 2};  // of X
  std::vector<int64_t> axes, directions, output_axes, output_directions;
};

ModelBuilder Scan(const Scanned& scanned, const std::string& output) {
  ModelBuilder b;
  b.Input("X", scanned.shape).Floats("zero", {2}, {0, 100});
  NodeBuilder node = b.Node("Scan", {"zero", "X"}, {"last", "all"});
  node.Graph("body", RunningSum()).Int("num_scan_inputs", 1);
  if (!scanned.axes.empty()) node.Ints("scan_input_axes", scanned.axes);
  if (!scanned.directions.empty())
    node.Ints("scan_input_directions", scanned.directions);
  if (!scanned.output_axes.empty())
    node.Ints("scan_output_axes", scanned.output_axes);
  if (!scanned.output_directions.empty())
    node.Ints("scan_output_directions", scanned.output_directions);
  b.Output(output);
  return b;
}

TEST(UnrollLoopsTest, AScanRunsItsBodyForEachSlice) {
  const HostTensor x = Floats({3, 2}, {1, 2, 3, 4, 5, 6});
  ModelBuilder all = Scan({}, "all"), last = Scan({}, "last");
  EXPECT_EQ(Evaluate(Import(all), {x}),
            std::vector<float>({1, 102, 4, 106, 9, 112}));
  EXPECT_EQ(Evaluate(Import(last), {x}), std::vector<float>({9, 112}));
}

TEST(UnrollLoopsTest, ScansGoAlongAnyAxisBothWays) {
  Scanned scanned;
  scanned.shape = {2, 3};
  scanned.axes = {-1};
  scanned.directions = {1};
  scanned.output_axes = {1};
  ModelBuilder b = Scan(scanned, "all");
  const HostTensor x = Floats({2, 3}, {1, 3, 5, 2, 4, 6});
  EXPECT_EQ(Evaluate(Import(b), {x}),
            std::vector<float>({5, 8, 9, 106, 110, 112}));
  scanned.output_directions = {1};
  ModelBuilder reversed = Scan(scanned, "all");
  EXPECT_EQ(Evaluate(Import(reversed), {x}),
            std::vector<float>({9, 8, 5, 112, 110, 106}));
}

// a' = a * W + i; y = a'. It goes on while i < `until`.
onnx::GraphProto Body(int64_t until) {
  ModelBuilder b;
  b.Input("i", {}, onnx::TensorProto::INT64)
      .Input("go_on", {}, onnx::TensorProto::BOOL)
      .Input("a", {2});
  b.Ints("until", {}, {until});
  b.Node("Cast", {"i"}, {"number"}).Int("to", onnx::TensorProto::FLOAT);
  b.Node("Mul", {"a", "W"}, {"product"});
  b.Node("Add", {"product", "number"}, {"next"});
  b.Node("Identity", {"next"}, {"y"});
  b.Node("Less", {"i", "until"}, {"again"});
  b.Output("again", {}, onnx::TensorProto::BOOL).Output("next").Output("y");
  return b.model().graph();
}

ModelBuilder Loop(const std::string& trips, const std::string& condition,
                  int64_t until) {
  ModelBuilder b;
  b.Input("A", {2}).Floats("W", {2}, {2, 1});
  b.Ints("three", {}, {3}).Ints("zero", {1}, {0});
  b.Integers("yes", onnx::TensorProto::BOOL, {}, {1});
  b.Node("Loop", {trips, condition, "A"}, {"last", "all"})
      .Graph("body", Body(until));
  b.Output("all");
  return b;
}

// Trips, a condition, or both end it; what the body captures is the model's.
TEST(UnrollLoopsTest, ALoopRunsUntilSomethingEndsIt) {
  const std::vector<float> all = {2, 1, 5, 2, 12, 4};
  for (ModelBuilder b :
       {Loop("three", "", 0), Loop("three", "yes", 9), Loop("", "yes", 2)}) {
    EXPECT_EQ(Evaluate(Import(b), {Floats({2}, {1, 1})}), all);
  }
}

TEST(UnrollLoopsTest, WhatIsNotKnownIsRefused) {
  constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
  ModelBuilder trips = Loop("n", "", 0);
  trips.Input("n", {}, onnx::TensorProto::INT64);
  ExpectRefused(trips, kUnimplemented, "'n', is not known", "--bind");
  ModelBuilder condition = Loop("three", "c", 9);
  condition.Input("c", {}, onnx::TensorProto::BOOL);
  ExpectRefused(condition, kUnimplemented, "after 0 trips, 'c'", "not known");
  ModelBuilder none = Loop("zero", "", 0);
  ExpectRefused(none, kUnimplemented, "runs no time", "without elements");
  ModelBuilder endless = Loop("", "yes", 1 << 30);
  ExpectRefused(endless, kUnimplemented, "'last' (Loop)",
                "too many to compile");
}

TEST(UnrollLoopsTest, WhatDoesNotFitIsRefused) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  Scanned scanned;
  scanned.axes = {2};
  ModelBuilder beyond = Scan(scanned, "all");
  ExpectRefused(beyond, kInvalid, "'X'", "no axis 2");
  scanned.axes = {0, 1};
  ModelBuilder axes = Scan(scanned, "all");
  ExpectRefused(axes, kInvalid, "do not fit", "1 inputs");
  ModelBuilder inputs = Scan({}, "all");
  inputs.model()
      .mutable_graph()
      ->mutable_node(0)
      ->mutable_input()
      ->RemoveLast();
  ExpectRefused(inputs, kInvalid, "'body'",
                "has 2 inputs where the node gives 1");
  ModelBuilder left_out = Loop("three", "", 0);
  left_out.model().mutable_graph()->mutable_node(0)->set_input(2, "");
  ExpectRefused(left_out, kInvalid, "'body'", "input of the graph is missing");
  ModelBuilder outputs = Scan({}, "all");
  outputs.model().mutable_graph()->mutable_node(0)->add_output("more");
  ExpectRefused(outputs, kInvalid, "has 2 outputs instead of 3", "Scan");
}

}  // namespace
}  // namespace tilewright
