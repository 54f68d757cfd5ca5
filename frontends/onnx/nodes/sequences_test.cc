#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/testing/imported.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {
namespace {

using Numbers = std::vector<float>;

// Inputs A and B [2], a sequence S of both, and places in it.
ModelBuilder Pair() {
  ModelBuilder b;
  b.Input("A", {2}).Input("B", {2});
  b.Ints("0", {}, {0}).Ints("1", {}, {1}).Ints("-1", {}, {-1});
  b.Ints("2", {}, {2});
  b.Node("SequenceConstruct", {"A", "B"}, {"S"});
  return b;
}

Numbers Of(ModelBuilder& b) {
  return Evaluate(Import(b), {Floats({2}, {1, 2}), Floats({2}, {3, 4})});
}

TEST(SequencesTest, ElementsAreTakenByTheirPlace) {
  for (const auto& [place, expected] :
       std::vector<std::pair<std::string, Numbers>>{
           {"0", {1, 2}}, {"1", {3, 4}}, {"-1", {3, 4}}}) {
    ModelBuilder b = Pair();
    b.Node("SequenceAt", {"S", place}, {"Y"});
    b.Output("Y");
    EXPECT_EQ(Of(b), expected) << place;
  }
}

TEST(SequencesTest, ElementsComeAndGo) {
  ModelBuilder b = Pair();
  b.Node("Neg", {"A"}, {"N"});
  b.Node("SequenceInsert", {"S", "N", "-1"}, {"three"});  // A, N, B
  b.Node("SequenceInsert", {"three", "A"}, {"four"});     // A, N, B, A
  b.Node("SequenceErase", {"four", "0"}, {"N B A"});
  b.Node("SequenceErase", {"N B A"}, {"N B"});
  b.Node("ConcatFromSequence", {"N B"}, {"Y"}).Int("axis", 0);
  b.Output("Y");
  EXPECT_EQ(Of(b), Numbers({-1, -2, 3, 4}));
}

TEST(SequencesTest, TensorsAreStackedAlongANewAxis) {
  ModelBuilder b = Pair();
  b.Node("ConcatFromSequence", {"S"}, {"Y"}).Int("axis", -1).Int("new_axis", 1);
  b.Output("Y");
  EXPECT_EQ(Of(b), Numbers({1, 3, 2, 4}));
}

// No node is left, and no value that one would have made.
TEST(SequencesTest, ALengthMayBeAllThatIsWanted) {
  ModelBuilder b;
  b.Floats("X", {7}, std::vector<float>(7, 1)).Ints("sizes", {3}, {1, 2, 4});
  b.Node("SplitToSequence", {"X", "sizes"}, {"S"});
  b.Node("SequenceLength", {"S"}, {"Y"});
  b.Output("Y", {}, onnx::TensorProto::INT64);
  EXPECT_EQ(Hints(Import(b)), std::vector<std::string>{"copy"});
}

TEST(SequencesTest, TheLengthIsKnown) {
  ModelBuilder b = Pair();
  b.Node("SequenceEmpty", {}, {"none"});
  b.Node("SequenceInsert", {"none", "A"}, {"one"});
  b.Node("SequenceLength", {"S"}, {"length"});
  b.Node("Cast", {"length"}, {"two"}).Int("to", onnx::TensorProto::FLOAT);
  b.Node("SequenceAt", {"one", "0"}, {"A again"});
  b.Node("Mul", {"A again", "two"}, {"Y"});
  b.Output("Y");
  EXPECT_EQ(Of(b), Numbers({2, 4}));
}

// Slices of one, with and without their axis; parts of two; given sizes.
TEST(SequencesTest, TensorsAreSplit) {
  struct Case {
    std::string sizes;
    int64_t keepdims;
    std::string place;
    Numbers expected;
  };
  for (const Case& c : std::vector<Case>{{"", 1, "2", {3, 6}},
                                         {"", 0, "1", {2, 5}},
                                         {"two", 1, "1", {3, 6}},
                                         {"sizes", 1, "1", {2, 3, 5, 6}}}) {
    ModelBuilder b;
    b.Input("X", {2, 3}).Ints("1", {}, {1}).Ints("2", {}, {2});
    b.Ints("two", {}, {2}).Ints("sizes", {2}, {1, 2});
    std::vector<std::string> inputs = {"X"};
    if (!c.sizes.empty()) inputs.push_back(c.sizes);
    b.Node("SplitToSequence", inputs, {"S"})
        .Int("axis", -1)
        .Int("keepdims", c.keepdims);
    b.Node("SequenceAt", {"S", c.place}, {"Y"});
    b.Output("Y");
    const ImportedModel model = Import(b);
    EXPECT_EQ(model.outputs[0].shape.size(), c.keepdims != 0 ? 2u : 1u);
    EXPECT_EQ(Evaluate(model, {Floats({2, 3}, {1, 2, 3, 4, 5, 6})}),
              c.expected);
  }
}

// A loop that collects, and a map over what it collected.
TEST(SequencesTest, SequencesGoThroughLoops) {
  ModelBuilder body;
  body.Input("i", {}, onnx::TensorProto::INT64)
      .Input("go_on", {}, onnx::TensorProto::BOOL)
      .Input("so_far", {});
  body.Node("Cast", {"i"}, {"number"}).Int("to", onnx::TensorProto::FLOAT);
  body.Node("Mul", {"A", "number"}, {"product"});
  body.Node("SequenceInsert", {"so_far", "product"}, {"more"});
  body.Node("Identity", {"go_on"}, {"again"});
  body.Output("again", {-2}, onnx::TensorProto::BOOL).Output("more");
  ModelBuilder add;
  add.Input("x", {2}).Input("y", {2});
  add.Node("Add", {"x", "y"}, {"sum"});
  add.Output("sum");
  ModelBuilder b = Pair();
  b.Ints("three", {}, {3});
  b.Node("SequenceEmpty", {}, {"none"});
  b.Node("Loop", {"three", "", "none"}, {"collected"})
      .Graph("body", body.model().graph());
  b.Node("SequenceMap", {"collected", "B"}, {"sums"})
      .Graph("body", add.model().graph());
  b.Node("ConcatFromSequence", {"sums"}, {"Y"}).Int("axis", 0);
  b.Output("Y");
  EXPECT_EQ(Of(b), Numbers({3, 4, 4, 6, 5, 8}));
}

TEST(SequencesTest, WhatIsNotThereIsRefused) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  ModelBuilder beyond = Pair();
  beyond.Node("SequenceAt", {"S", "2"}, {"Y"});
  beyond.Output("Y");
  ExpectRefused(beyond, kInvalid, "no element [2] of 2", "SequenceAt");
  ModelBuilder tensor = Pair();
  tensor.Node("SequenceAt", {"A", "0"}, {"Y"});
  tensor.Output("Y");
  ExpectRefused(tensor, kInvalid, "'A'", "is no sequence");
  ModelBuilder empty = Pair();
  empty.Node("SequenceEmpty", {}, {"none"});
  empty.Node("ConcatFromSequence", {"none"}, {"Y"}).Int("axis", 0);
  empty.Output("Y");
  ExpectRefused(empty, kInvalid, "is empty", "ConcatFromSequence");
}

TEST(SequencesTest, SequencesStayInside) {
  constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
  ModelBuilder output = Pair();
  output.Output("S");
  ExpectRefused(output, kUnimplemented, "'S'", "is a sequence");
  ModelBuilder added = Pair();
  added.Node("Add", {"S", "A"}, {"Y"});
  added.Output("Y");
  ExpectRefused(added, kUnimplemented, "a sequence as an input", "Add");
  ModelBuilder unknown = Pair();
  unknown.Input("place", {}, onnx::TensorProto::INT64);
  unknown.Node("SequenceAt", {"S", "place"}, {"Y"});
  unknown.Output("Y");
  ExpectRefused(unknown, kUnimplemented, "'place'", "not known when compiling");
}

}  // namespace
}  // namespace tilewright
