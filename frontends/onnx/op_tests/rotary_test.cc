// RotaryEmbedding: pairs turned by quarter and half turns, worked out by hand.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_tests/op_testing.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using Shape = std::vector<int64_t>;

// Two positions of two pairs: by nothing and a quarter; by a half and a
// quarter backwards.
const Values kCos = {1, 0, -1, 0};
const Values kSin = {0, 1, 0, -1};

Attributes Set(int64_t heads, int64_t interleaved, int64_t rotated = 0) {
  return [=](NodeBuilder n) {
    n.Int("num_heads", heads).Int("interleaved", interleaved);
    n.Int("rotary_embedding_dim", rotated);
  };
}

Outcome Turned(const Given& x, const Attributes& attributes) {
  return RunNode(23, "RotaryEmbedding",
                 {x, {{1, 2, 2}, kCos}, {{1, 2, 2}, kSin}}, {}, attributes);
}

TEST(RotaryTest, PairsAreHalvesOrNeighbours) {
  const Given x = {{1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}};
  ExpectNear(Turned(x, Set(0, 0)), x.shape, {1, -4, 3, 2, -5, 8, -7, -6});
  ExpectNear(Turned(x, Set(0, 1)), x.shape, {1, 2, -4, 3, -5, -6, 8, -7});
}

TEST(RotaryTest, FeaturesBehindTheRotatedStay) {
  const Given x = {{1, 1, 2, 5}, Count({10}).values};
  ExpectNear(Turned(x, Set(0, 0, 4)), x.shape,
             {1, -4, 3, 2, 5, -6, 9, -8, -7, 10});
  ExpectNear(Turned(x, Set(0, 1, 4)), x.shape,
             {1, 2, -4, 3, 5, -6, -7, 9, -8, 10});
}

TEST(RotaryTest, HeadsAreADimensionOrAmongTheFeatures) {
  const Values first = {1, 2, 3, 4}, second = {5, 6, 7, 8};
  const Values first_turned = {1, -4, 3, 2}, second_turned = {-5, 8, -7, -6};
  const auto join = [](const std::vector<Values>& parts) {
    Values all;
    for (const Values& part : parts)
      all.insert(all.end(), part.begin(), part.end());
    return all;
  };
  ExpectNear(
      Turned({{1, 2, 2, 4}, join({first, second, first, second})}, Set(0, 0)),
      {1, 2, 2, 4},
      join({first_turned, second_turned, first_turned, second_turned}));
  ExpectNear(
      Turned({{1, 2, 8}, join({first, first, second, second})}, Set(2, 0)),
      {1, 2, 8},
      join({first_turned, first_turned, second_turned, second_turned}));
}

TEST(RotaryTest, PositionsChooseRowsOfTheCaches) {
  ModelBuilder b(23);
  b.Input("x", {1, 1, 2, 4}).Floats("cos", {2, 2}, kCos);
  b.Floats("sin", {2, 2}, kSin).Ints("positions", {1, 2}, {1, 0});
  b.Node("RotaryEmbedding", {"x", "cos", "sin", "positions"}, {"y"});
  b.Output("y");
  ExpectNear(RunModel(b, {{{1, 1, 2, 4}, {5, 6, 7, 8, 1, 2, 3, 4}}}),
             {1, 1, 2, 4}, {-5, 8, -7, -6, 1, -4, 3, 2});
}

void ExpectRefused(const Shape& x, const Shape& cache,
                   const Attributes& attributes, const std::string& words) {
  ModelBuilder b(23);
  b.Input("x", x).Input("cos", cache).Input("sin", cache);
  attributes(b.Node("RotaryEmbedding", {"x", "cos", "sin"}, {"y"}));
  b.Output("y");
  const absl::Status status = ImportModelProto(b.model()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_NE(std::string(status.message()).find(words), std::string::npos)
      << status;
}

TEST(RotaryTest, WhatDoesNotFitIsRefused) {
  ExpectRefused({2, 4}, {1, 2, 2}, None, "three or four dimensions");
  ExpectRefused({1, 2, 8}, {1, 2, 2}, None, "set attribute 'num_heads'");
  ExpectRefused({1, 2, 8}, {1, 2, 2}, Set(3, 0), "set attribute 'num_heads'");
  ExpectRefused({1, 1, 2, 5}, {1, 2, 2}, None, "must be even");
  ExpectRefused({1, 1, 2, 4}, {1, 2, 3}, Set(0, 0, 6), "at most the 4");
  ExpectRefused({1, 1, 2, 4}, {1, 2, 4}, None, "[1, 2, 2] is needed");
}

}  // namespace
}  // namespace tilewright
