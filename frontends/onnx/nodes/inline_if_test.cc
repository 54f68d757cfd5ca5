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

using Strings = std::vector<std::string>;

// A graph of one node whose output is "R"; both branches may call it so.
onnx::GraphProto Branch(const std::string& op, const Strings& inputs) {
  ModelBuilder b;
  b.Node(op, inputs, {"R"});
  b.Output("R");
  return *b.model().mutable_graph();
}

// Y = If(condition, then, otherwise), of inputs X [2, 3] and Z [2, 3].
ModelBuilder Model(const std::string& condition, const onnx::GraphProto& then,
                   const onnx::GraphProto& otherwise) {
  ModelBuilder b;
  b.Input("X", {2, 3}).Input("Z", {2, 3});
  b.Node("If", {condition}, {"Y"})
      .Graph("then_branch", then)
      .Graph("else_branch", otherwise);
  b.Output("Y");
  return b;
}

// Makes "condition" say whether the rank of X is `rank`.
void AskForRank(int64_t rank, ModelBuilder& b) {
  b.Ints("rank", {1}, {rank});
  b.Node("Shape", {"X"}, {"shape"});
  b.Node("Shape", {"shape"}, {"size"});
  b.Node("Equal", {"size", "rank"}, {"condition"});
}

HostTensor Bool(bool value, std::vector<int64_t> shape) {
  HostTensor tensor(DType::kBool, std::move(shape));
  tensor.Set(0, {0, value});
  return tensor;
}

const HostTensor& X() {
  static const auto& x = *new HostTensor(Floats({2, 3}, {-1, 2, -3, 4, -5, 6}));
  return x;
}
const HostTensor& Z() {
  static const auto& z =
      *new HostTensor(Floats({2, 3}, {10, 20, 30, 40, 50, 60}));
  return z;
}

// As exporters ask before they squeeze: whatever the other branch needs.
TEST(InlineIfTest, AKnownConditionChoosesABranch) {
  for (const int64_t rank : {2, 3}) {
    ModelBuilder b = Model("condition", Branch("Relu", {"X"}),
                           Branch(rank == 2 ? "NonZero" : "Neg", {"X"}));
    AskForRank(rank, b);
    const ImportedModel model = Import(b);
    EXPECT_EQ(Hints(model), Strings{rank == 2 ? "relu" : "neg"});
    EXPECT_EQ(Evaluate(model, {X(), Z()}),
              rank == 2 ? std::vector<float>({0, 2, 0, 4, 0, 6})
                        : std::vector<float>({1, -2, 3, -4, 5, -6}));
  }
}

// Of a scalar and of a vector of one.
TEST(InlineIfTest, OfAConditionOfTheRunBothBranchesAreComputed) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{}, std::vector<int64_t>{1}}) {
    ModelBuilder b =
        Model("c", Branch("Add", {"X", "Z"}), Branch("Sub", {"X", "Z"}));
    b.Input("c", shape, onnx::TensorProto::BOOL);
    const ImportedModel model = Import(b);
    EXPECT_EQ(Evaluate(model, {X(), Z(), Bool(true, shape)}),
              std::vector<float>({9, 22, 27, 44, 45, 66}));
    EXPECT_EQ(Evaluate(model, {X(), Z(), Bool(false, shape)}),
              std::vector<float>({-11, -18, -33, -36, -55, -54}));
  }
}

// A value of the model, which a later node makes, or a constant of the branch.
TEST(InlineIfTest, ABranchMayOnlyNameAValue) {
  ModelBuilder then;
  then.Output("W");
  ModelBuilder otherwise;
  otherwise.Floats("W", {2, 3}, {1, 2, 3, 4, 5, 6}).Output("W");
  for (const bool chosen : {true, false}) {
    ModelBuilder b =
        Model("condition", then.model().graph(), otherwise.model().graph());
    AskForRank(chosen ? 2 : 3, b);
    b.Node("Neg", {"Z"}, {"W"});
    EXPECT_EQ(Evaluate(Import(b), {X(), Z()}),
              chosen ? std::vector<float>({-10, -20, -30, -40, -50, -60})
                     : std::vector<float>({1, 2, 3, 4, 5, 6}));
  }
}

TEST(InlineIfTest, BranchesHaveBranches) {
  ModelBuilder inner =
      Model("c", Branch("Add", {"X", "Z"}), Branch("Mul", {"X", "Z"}));
  inner.model().mutable_graph()->clear_input();
  ModelBuilder b =
      Model("condition", inner.model().graph(), Branch("Relu", {"X"}));
  AskForRank(2, b);
  b.Input("c", {}, onnx::TensorProto::BOOL);
  EXPECT_EQ(Evaluate(Import(b), {X(), Z(), Bool(false, {})}),
            std::vector<float>({-10, 40, -90, 160, -250, 360}));
}

TEST(InlineIfTest, WhatCannotBeChosenIsRefused) {
  ModelBuilder shapes =
      Model("c", Branch("Relu", {"X"}), Branch("Transpose", {"X"}));
  shapes.Input("c", {}, onnx::TensorProto::BOOL);
  ExpectRefused(shapes, absl::StatusCode::kUnimplemented,
                "of shapes [2, 3] and [3, 2]", "--bind");
  ModelBuilder of_numbers =
      Model("X", Branch("Relu", {"X"}), Branch("Neg", {"X"}));
  ExpectRefused(of_numbers, absl::StatusCode::kInvalidArgument, "'X'",
                "must be a single bool");
}

TEST(InlineIfTest, DamagedBranchesAreNamed) {
  ModelBuilder undefined =
      Model("condition", Branch("Relu", {"nothing"}), Branch("Neg", {"X"}));
  AskForRank(2, undefined);
  ExpectRefused(undefined, absl::StatusCode::kInvalidArgument, "'nothing'",
                "defines");
  ModelBuilder takes = Model("condition", Branch("Relu", {"X"}), {});
  AskForRank(3, takes);
  ExpectRefused(takes, absl::StatusCode::kInvalidArgument, "'else_branch'",
                "no outputs");
  onnx::GraphProto two = Branch("Neg", {"X"});
  *two.add_output() = two.output(0);
  ModelBuilder outputs = Model("condition", two, Branch("Neg", {"X"}));
  AskForRank(2, outputs);
  ExpectRefused(outputs, absl::StatusCode::kInvalidArgument,
                "then_branch has 2 outputs", "the node has 1");
  ModelBuilder missing;
  missing.Input("c", {}, onnx::TensorProto::BOOL);
  missing.Node("If", {"c"}, {"Y"});
  missing.Output("Y");
  ExpectRefused(missing, absl::StatusCode::kInvalidArgument, "then_branch",
                "is missing");
  ModelBuilder unknown =
      Model("condition", Branch("NonZero", {"X"}), Branch("Neg", {"X"}));
  AskForRank(2, unknown);
  ExpectRefused(unknown, absl::StatusCode::kUnimplemented, "NonZero",
                "not supported");
}

}  // namespace
}  // namespace tilewright
