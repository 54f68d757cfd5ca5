// TensorScatter on caches of two sequences, worked out by hand.
#include <cstdint>
#include <vector>

#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_tests/op_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

const Given& Cache() {
  static const Given& cache = *new Given{{2, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8}};
  return cache;
}

TEST(TensorScatterTest, EachSequenceHasAPositionOfItsOwn) {
  const Given update = {{2, 2, 1}, {10, 20, 30, 40}};
  ExpectNear(RunNode(24, "TensorScatter", {Cache(), update}, {{1, 2}}),
             {2, 4, 1}, {1, 10, 20, 4, 5, 6, 30, 40});
  ExpectNear(RunNode(24, "TensorScatter", {Cache(), update}), {2, 4, 1},
             {10, 20, 3, 4, 30, 40, 7, 8});
}

TEST(TensorScatterTest, ACircularCacheGoesOnAtItsBegin) {
  const Given update = {{2, 3, 1}, {10, 20, 30, 40, 50, 60}};
  ExpectNear(RunNode(24, "TensorScatter", {Cache(), update}, {{3, 2}},
                     [](NodeBuilder n) { n.String("mode", "circular"); }),
             {2, 4, 1}, {20, 30, 3, 10, 60, 6, 40, 50});
}

TEST(TensorScatterTest, AlongTheAxis) {
  const Given cache = {{1, 2, 3}, {1, 2, 3, 4, 5, 6}};
  const Given update = {{1, 2, 1}, {10, 20}};
  ExpectNear(RunNode(24, "TensorScatter", {cache, update}, {{2}},
                     [](NodeBuilder n) { n.Int("axis", 2); }),
             {1, 2, 3}, {1, 2, 10, 4, 5, 20});
}

TEST(TensorScatterTest, WhatDoesNotFitIsRefused) {
  const auto refusal = [](int64_t axis, const std::vector<int64_t>& update) {
    ModelBuilder b(24);
    b.Input("cache", {2, 4, 3}).Input("update", update).Output("y");
    b.Node("TensorScatter", {"cache", "update"}, {"y"}).Int("axis", axis);
    return ImportModelProto(b.model()).status();
  };
  EXPECT_THAT(refusal(-2, {2, 5, 3}).message(), HasSubstr("does not fit"));
  EXPECT_THAT(refusal(1, {2, 4, 2}).message(), HasSubstr("does not fit"));
  EXPECT_THAT(refusal(0, {2, 4, 3}).message(), HasSubstr("of the batch"));
}

}  // namespace
}  // namespace tilewright
