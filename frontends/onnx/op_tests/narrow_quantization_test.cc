// Weights of a few bits with a scale for each block, as language models store
// them: DequantizeLinear and QuantizeLinear in blocks, and integers of 2 and 4
// bits, beside their definitions.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/ceil_div.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_tests/op_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using Integers = std::vector<int64_t>;

constexpr int kInt8 = onnx::TensorProto::INT8;
constexpr int kUInt4 = 21, kInt4 = 22, kUInt2 = 25, kInt2 = 26;

int BitsOf(int type) {
  if (type == kInt8) return 8;
  return type == kUInt4 || type == kInt4 ? 4 : 2;
}
bool IsSigned(int type) {
  return type == kInt8 || type == kInt4 || type == kInt2;
}
int64_t LowestOf(int type) {
  return IsSigned(type) ? -(int64_t{1} << (BitsOf(type) - 1)) : 0;
}
int64_t HighestOf(int type) {
  return LowestOf(type) + (int64_t{1} << BitsOf(type)) - 1;
}

Integers Draw(Random& random, int type, const Integers& shape) {
  Integers values;
  for (int64_t i = 0; i < Total(shape); ++i)
    values.push_back(random.UniformInt(LowestOf(type), HighestOf(type)));
  return values;
}

// As a file holds them, several to a byte.
Integers Packed(const Integers& values, int type) {
  const int64_t bits = BitsOf(type), to_a_byte = 8 / bits;
  Integers bytes(CeilDiv(static_cast<int64_t>(values.size()), to_a_byte));
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t low = values[i] & ((1 << bits) - 1);
    bytes[i / to_a_byte] |= low << (i % to_a_byte * bits);
  }
  return bytes;
}

// Scales of the blocks along one dimension of a tensor.
struct Blocks {
  Integers shape;
  int axis;
  int64_t size;

  Integers scales_shape() const {
    Integers result = shape;
    result[axis] = CeilDiv(shape[axis], size);
    return result;
  }
  // Which scale element `i` has.
  int64_t ScaleOf(int64_t i) const {
    Integers index(shape.size());
    for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
      index[d] = i % shape[d];
      i /= shape[d];
    }
    index[axis] /= size;
    const Integers scales = scales_shape();
    int64_t result = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      result = result * scales[d] + index[d];
    return result;
  }
};

Blocks DrawBlocks(Random& random) {
  Blocks blocks;
  for (int d = 0; d < 3; ++d) blocks.shape.push_back(random.UniformInt(1, 7));
  blocks.axis = static_cast<int>(random.Index(3));
  blocks.size = random.UniformInt(1, blocks.shape[blocks.axis] + 1);
  return blocks;
}

Values DrawScales(Random& random, const Blocks& blocks) {
  Values scales;
  for (int64_t i = 0; i < Total(blocks.scales_shape()); ++i) {
    scales.push_back(
        std::ldexp(1.0f, static_cast<int>(random.UniformInt(-3, 2))));
  }
  return scales;
}

TEST(NarrowQuantizationTest, EveryElementHasTheScaleOfItsBlock) {
  Random random(1);
  for (int i = 0; i < 120; ++i) {
    const int type = std::vector<int>{kInt8, kUInt4, kInt4, kInt2}[i % 4];
    const Blocks blocks = DrawBlocks(random);
    const Integers values = Draw(random, type, blocks.shape);
    const Integers zeros = Draw(random, type, blocks.scales_shape());
    const Values scales = DrawScales(random, blocks);
    const bool has_zeros = random.Bernoulli(0.5);
    ModelBuilder b(25);
    b.Integers("q", type, blocks.shape, Packed(values, type));
    b.Floats("scale", blocks.scales_shape(), scales);
    b.Integers("zero", type, blocks.scales_shape(), Packed(zeros, type));
    std::vector<std::string> inputs = {"q", "scale"};
    if (has_zeros) inputs.push_back("zero");
    b.Node("DequantizeLinear", inputs, {"x"})
        .Int("axis", blocks.axis - 3)
        .Int("block_size", blocks.size);
    b.Output("x");
    Values expected;
    for (size_t e = 0; e < values.size(); ++e) {
      const int64_t s = blocks.ScaleOf(static_cast<int64_t>(e));
      const int64_t centred = values[e] - (has_zeros ? zeros[s] : 0);
      expected.push_back(static_cast<float>(centred) * scales[s]);
    }
    SCOPED_TRACE(i);
    ExpectNear(RunModel(b, {}), blocks.shape, expected);
  }
}

// The scale is a scalar or a list of one, and so is the zero point.
TEST(NarrowQuantizationTest, OneScaleHasAnyShapeOfOneElement) {
  const std::vector<Integers> shapes = {{}, {1}};
  for (const Integers& of_x : {Integers{}, Integers{3}}) {
    for (const Integers& of_scale : shapes) {
      for (const Integers& of_zero : shapes) {
        ModelBuilder b(21);
        const Integers values =
            Total(of_x) == 1 ? Integers{7} : Integers{7, 0, 2};
        b.Integers("q", kUInt4, of_x, Packed(values, kUInt4));
        b.Input("scale", of_scale);
        b.Integers("zero", kUInt4, of_zero, {2});
        b.Node("DequantizeLinear", {"q", "scale", "zero"}, {"x"});
        b.Output("x");
        Values expected;
        for (const int64_t value : values)
          expected.push_back(static_cast<float>(value - 2) * 0.5f);
        ExpectNear(RunModel(b, {{of_scale, {0.5f}}}), of_x, expected);
      }
    }
  }
}

TEST(NarrowQuantizationTest, WhatIsOutOfRangeIsSaturated) {
  Random random(2);
  for (int i = 0; i < 60; ++i) {
    const int type = std::vector<int>{kInt8, kUInt4, kInt4, kUInt2}[i % 4];
    const Blocks blocks = DrawBlocks(random);
    const Integers zeros = Draw(random, type, blocks.scales_shape());
    const Values scales = DrawScales(random, blocks);
    Given x = {blocks.shape, {}};
    for (int64_t e = 0; e < Total(blocks.shape); ++e)
      x.values.push_back(static_cast<float>(random.Uniform(-20, 20)));
    ModelBuilder b(25);
    b.Input("x", x.shape).Floats("scale", blocks.scales_shape(), scales);
    b.Integers("zero", type, blocks.scales_shape(), Packed(zeros, type));
    b.Node("QuantizeLinear", {"x", "scale", "zero"}, {"q"})
        .Int("axis", blocks.axis)
        .Int("block_size", blocks.size);
    b.Output("q", x.shape, type);
    Values expected;
    for (size_t e = 0; e < x.values.size(); ++e) {
      const int64_t s = blocks.ScaleOf(static_cast<int64_t>(e));
      const double q = std::nearbyint(x.values[e] / scales[s]) +
                       static_cast<double>(zeros[s]);
      expected.push_back(static_cast<float>(
          std::min(static_cast<double>(HighestOf(type)),
                   std::max(static_cast<double>(LowestOf(type)), q))));
    }
    SCOPED_TRACE(i);
    ExpectNear(RunModel(b, {x}), blocks.shape, expected);
  }
}

TEST(NarrowQuantizationTest, CastsKeepTheLowestBits) {
  Given x = {{41}, {}};
  for (int64_t v = -20; v <= 20; ++v) x.values.push_back(static_cast<float>(v));
  for (const int type : {kUInt4, kInt4, kUInt2, kInt2}) {
    Values expected;
    for (const float v : x.values) {
      const int64_t values = int64_t{1} << BitsOf(type);
      int64_t low = (static_cast<int64_t>(v) % values + values) % values;
      if (low > HighestOf(type)) low -= values;
      expected.push_back(static_cast<float>(low));
    }
    SCOPED_TRACE(type);
    ModelBuilder b(25);
    b.Input("x", x.shape);
    b.Node("Cast", {"x"}, {"y"}).Int("to", type);
    b.Output("y", x.shape, type);
    ExpectNear(RunModel(b, {x}), x.shape, expected);
    // Moving elements keeps what they are.
    ModelBuilder like(25);
    like.Input("x", x.shape).Integers("one", type, {1}, {1});
    like.Ints("shape", {0}, {});
    like.Node("Reshape", {"one", "shape"}, {"scalar"});
    like.Node("CastLike", {"x", "scalar"}, {"y"});
    like.Output("y", x.shape, type);
    ExpectNear(RunModel(like, {x}), x.shape, expected);
  }
}

// x [m, k] times 4-bit weights [k, n] in blocks of `block` along k.
ModelBuilder WeightsOfFourBits(int64_t m, int64_t k, int64_t n, int64_t block,
                               const Integers& weights, const Values& scales) {
  ModelBuilder b(21);
  b.Input("x", {m, k}).Integers("w", kInt4, {k, n}, Packed(weights, kInt4));
  b.Floats("scale", {CeilDiv(k, block), n}, scales);
  b.Node("DequantizeLinear", {"w", "scale"}, {"real"})
      .Int("axis", 0)
      .Int("block_size", block);
  b.Node("MatMul", {"x", "real"}, {"y"});
  b.Output("y");
  return b;
}

TEST(NarrowQuantizationTest, ProductsReadTheIntegers) {
  constexpr int64_t kTerms = 24, kColumns = 5, kBlock = 8;
  Random random(5);
  const Blocks blocks = {{kTerms, kColumns}, 0, kBlock};
  const Integers weights = Draw(random, kInt4, blocks.shape);
  const Values scales = DrawScales(random, blocks);
  for (const int64_t rows : {1, 3}) {
    Given x = {{rows, kTerms}, {}};
    for (int64_t e = 0; e < rows * kTerms; ++e)
      x.values.push_back(static_cast<float>(random.UniformInt(-4, 4)));
    Values expected;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < kColumns; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < kTerms; ++k) {
          const int64_t at = k * kColumns + j;
          sum += x.values[i * kTerms + k] * static_cast<float>(weights[at]) *
                 scales[blocks.ScaleOf(at)];
        }
        expected.push_back(sum);
      }
    }
    ModelBuilder b =
        WeightsOfFourBits(rows, kTerms, kColumns, kBlock, weights, scales);
    SCOPED_TRACE(rows);
    ExpectNear(RunModel(b, {x}), {rows, kColumns}, expected);
  }
  // One row reads each weight once: 8 bits of it, not 32. Larger tensors than
  // this are not computed when compiling.
  ImportOptions options;
  options.max_folded_bytes = 1;
  ModelBuilder b =
      WeightsOfFourBits(1, kTerms, kColumns, kBlock, weights, scales);
  TW_ASSERT_OK_AND_ASSIGN(const ImportedModel model,
                          ImportModelProto(b.model(), options));
  const Compute& y = model.graph.tensor(model.outputs[0].tensor).compute;
  ASSERT_FALSE(y.reduce_axes.empty());
  bool reads_bytes = false;
  Visit(y.body[0], [&](const Expr& e) {
    reads_bytes |= e.op() == Op::kLoad && e.dtype() == DType::kInt8;
  });
  EXPECT_TRUE(reads_bytes);
}

TEST(NarrowQuantizationTest, OtherOperatorsTakeNoNarrowIntegers) {
  ModelBuilder b(25);
  b.Input("x", {4}, kInt4);
  b.Node("Neg", {"x"}, {"y"});
  b.Output("y", {4}, kInt4);
  EXPECT_THAT(ImportModelProto(b.model()).status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("input 'x' of type INT4")));
}

TEST(NarrowQuantizationTest, ScalesMustFitTheBlocks) {
  ModelBuilder b(21);
  b.Input("q", {8, 3}, kInt8).Floats("scale", {3, 3}, Values(9, 1));
  b.Node("DequantizeLinear", {"q", "scale"}, {"x"})
      .Int("axis", 0)
      .Int("block_size", 2);
  b.Output("x");
  EXPECT_THAT(
      ImportModelProto(b.model()).status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("scales of shape [3, 3] do not fit dimension 0 of "
                         "[8, 3] in blocks of 2")));
}

}  // namespace
}  // namespace tilewright
