// Quantized models: products of integers where operands were dequantized, and
// the operators on integers themselves, against sums worked out here.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "gtest/gtest.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/ir/intrinsics.h"
#include "tilegraph/ir/verifier.h"

namespace tilewright {
namespace {

constexpr int kInt8 = onnx::TensorProto::INT8;
constexpr int kUInt8 = onnx::TensorProto::UINT8;
constexpr int kInt32 = onnx::TensorProto::INT32;

using Numbers = std::vector<int64_t>;

// A layer on 8-bit integers: x [1, ic, h, w] with weights [oc, ic, k, k], or
// with k = 0 a product of x [h, ic] with [ic, oc].
struct Layer {
  int64_t ic, oc, h, w, k, stride, pad;
  int x_type, w_type;
  int64_t x_zero;
  std::vector<float> w_scales;
  Numbers w_zeros, x, weights, bias;
  float x_scale;

  int64_t oh() const { return k == 0 ? h : (h + 2 * pad - k) / stride + 1; }
  int64_t ow() const { return k == 0 ? 1 : (w + 2 * pad - k) / stride + 1; }
  Numbers x_shape() const {
    return k == 0 ? Numbers{h, ic} : Numbers{1, ic, h, w};
  }
  Numbers w_shape() const {
    return k == 0 ? Numbers{ic, oc} : Numbers{oc, ic, k, k};
  }

  int64_t X(int64_t c, int64_t y, int64_t z) const {
    if (k == 0) return x[y * ic + c] - x_zero;
    if (y < 0 || y >= h || z < 0 || z >= w) return 0;
    return x[(c * h + y) * w + z] - x_zero;
  }
  int64_t W(int64_t o, int64_t c, int64_t y, int64_t z) const {
    const int64_t zero = w_zeros[w_zeros.size() == 1 ? 0 : o];
    return (k == 0 ? weights[c * oc + o]
                   : weights[((o * ic + c) * k + y) * k + z]) -
           zero;
  }
  float Scale(int64_t o) const {
    return w_scales[w_scales.size() == 1 ? 0 : o];
  }
  int64_t Sum(int64_t o, int64_t y, int64_t z) const {
    int64_t sum = 0;
    for (int64_t c = 0; c < ic; ++c) {
      if (k == 0) sum += X(c, y, 0) * W(o, c, 0, 0);
      for (int64_t a = 0; a < k; ++a) {
        for (int64_t b = 0; b < k; ++b)
          sum +=
              X(c, y * stride + a - pad, z * stride + b - pad) * W(o, c, a, b);
      }
    }
    return sum;
  }
  // f(channel, sum) of every output, in the order of the tensor.
  template <typename F>
  std::vector<double> Outputs(const F& f) const {
    std::vector<double> result(oc * oh() * ow());
    for (int64_t o = 0; o < oc; ++o) {
      for (int64_t y = 0; y < oh(); ++y) {
        for (int64_t z = 0; z < ow(); ++z) {
          const int64_t at = k == 0 ? y * oc + o : (o * oh() + y) * ow() + z;
          result[at] = f(o, Sum(o, y, z));
        }
      }
    }
    return result;
  }
};

Layer Draw(Random& random) {
  const auto one_of = [&](const Numbers& values) {
    return values[random.Index(values.size())];
  };
  Layer layer;
  layer.ic = one_of({1, 3, 4, 5, 8});
  layer.oc = one_of({1, 3, 6});
  layer.h = one_of({3, 4, 6});
  layer.w = one_of({3, 5});
  layer.k = one_of({0, 1, 2, 3});
  layer.stride = one_of({1, 2});
  layer.pad = layer.k > 1 ? one_of({0, 1}) : 0;
  const auto low = [](int type) { return type == kInt8 ? -128 : 0; };
  layer.x_type = random.Bernoulli(0.5) ? kUInt8 : kInt8;
  layer.w_type = random.Bernoulli(0.7) ? kInt8 : kUInt8;
  const auto byte = [&](int type) {
    return random.UniformInt(low(type), low(type) + 255);
  };
  layer.x_zero = random.Bernoulli(0.4) ? 0 : byte(layer.x_type);
  const int64_t channels = random.Bernoulli(0.5) ? layer.oc : 1;
  for (int64_t c = 0; c < channels; ++c) {
    layer.w_scales.push_back(
        std::ldexp(1.0f, static_cast<int>(random.UniformInt(-8, -3))));
    layer.w_zeros.push_back(layer.w_type == kInt8 ? 0 : 128);
  }
  layer.x_scale = std::ldexp(1.0f, static_cast<int>(random.UniformInt(-6, -2)));
  const Numbers x_shape = layer.x_shape();
  const Numbers w_shape = layer.w_shape();
  const auto draw = [&](const Numbers& shape, int type, Numbers& to) {
    int64_t count = 1;
    for (const int64_t d : shape) count *= d;
    for (int64_t i = 0; i < count; ++i) to.push_back(byte(type));
  };
  draw(x_shape, layer.x_type, layer.x);
  draw(w_shape, layer.w_type, layer.weights);
  if (random.Bernoulli(0.6)) {
    for (int64_t o = 0; o < layer.oc; ++o)
      layer.bias.push_back(random.UniformInt(-1000, 1000));
  }
  return layer;
}

ImportedModel Import(ModelBuilder& builder) {
  absl::StatusOr<ImportedModel> model = ImportModelProto(builder.model(), {});
  if (!model.ok()) {
    ADD_FAILURE() << model.status();
    return {};
  }
  const absl::Status verified = VerifyGraph(model->graph);
  EXPECT_TRUE(verified.ok()) << verified;
  return *std::move(model);
}

// The first output where the inputs are these.
std::vector<double> EvaluateOn(const ImportedModel& model,
                               std::map<TensorId, HostTensor> inputs) {
  auto interpreter = Interpreter::Create(model.graph, std::move(inputs), {});
  if (!interpreter.ok()) {
    ADD_FAILURE() << interpreter.status();
    return {};
  }
  auto result = (*interpreter)->Evaluate(model.outputs[0].tensor);
  if (!result.ok()) {
    ADD_FAILURE() << result.status();
    return {};
  }
  std::vector<double> numbers;
  for (int64_t i = 0; i < result->num_elements(); ++i) {
    const Scalar s = result->Get(i);
    numbers.push_back(IsFloat(result->dtype()) ? s.f
                                               : static_cast<double>(s.i));
  }
  return numbers;
}

std::vector<double> Evaluate(const ImportedModel& model,
                             const std::vector<Numbers>& inputs) {
  std::map<TensorId, HostTensor> values;
  for (size_t p = 0; p < inputs.size(); ++p) {
    const Port& port = model.inputs[p];
    HostTensor value(port.dtype, port.shape);
    for (size_t i = 0; i < inputs[p].size(); ++i) {
      value.Set(static_cast<int64_t>(i),
                Scalar{static_cast<double>(inputs[p][i]), inputs[p][i]});
    }
    values.emplace(port.tensor, std::move(value));
  }
  return EvaluateOn(model, std::move(values));
}

// Where the input is what the layer's data stand for. Scales are powers of two:
// quantizing these gives the integers back.
std::vector<double> EvaluateReal(const ImportedModel& model, const Layer& l) {
  HostTensor x(DType::kFloat32, l.x_shape());
  for (size_t i = 0; i < l.x.size(); ++i)
    x.as<float>()[i] = static_cast<float>(l.x[i] - l.x_zero) * l.x_scale;
  std::map<TensorId, HostTensor> values;
  values.emplace(model.inputs[0].tensor, std::move(x));
  return EvaluateOn(model, std::move(values));
}

std::vector<double> Evaluate(const ImportedModel& model, const Numbers& x) {
  return Evaluate(model, std::vector<Numbers>{x});
}

// Whether the model's one contraction is of bytes.
bool HasDot(const ImportedModel& model) {
  for (const Tensor& tensor : model.graph.tensors()) {
    if (tensor.hint.role() != ComputeRole::kConvolution &&
        tensor.hint.word() != "matmul")
      continue;
    const auto term =
        MatchDotTerm(*tensor.compute.combiner, tensor.compute.body[0]);
    return term && term->intrinsic->name == "dot4_u8s8_i32";
  }
  return false;
}

NodeBuilder Window(NodeBuilder node, const Layer& l) {
  if (l.k > 0) {
    node.Ints("strides", {l.stride, l.stride});
    node.Ints("pads", {l.pad, l.pad, l.pad, l.pad});
  }
  return node;
}

// QuantizeLinear, DequantizeLinear, the layer on floats, which makes `y`.
ModelBuilder Dequantized(const Layer& l, const std::string& y = "y") {
  ModelBuilder b;
  b.Input("x", l.x_shape()).Output("y");
  b.Floats("sx", {}, {l.x_scale}).Integers("zx", l.x_type, {}, {l.x_zero});
  const int64_t channels = static_cast<int64_t>(l.w_scales.size());
  const Numbers by_channel = channels == 1 ? Numbers{} : Numbers{channels};
  b.Floats("sw", by_channel, l.w_scales);
  b.Integers("zw", l.w_type, by_channel, l.w_zeros);
  b.Integers("wq", l.w_type, l.w_shape(), l.weights);
  b.Node("QuantizeLinear", {"x", "sx", "zx"}, {"xq"});
  b.Node("DequantizeLinear", {"xq", "sx", "zx"}, {"xd"});
  b.Node("DequantizeLinear", {"wq", "sw", "zw"}, {"wd"})
      .Int("axis", l.k == 0 ? 1 : 0);
  std::vector<std::string> inputs = {"xd", "wd"};
  if (!l.bias.empty()) {
    std::vector<float> scales, zeros;
    for (int64_t o = 0; o < l.oc; ++o) scales.push_back(l.x_scale * l.Scale(o));
    b.Floats("sb", {l.oc}, scales);
    b.Integers("zb", kInt32, {l.oc}, Numbers(l.oc, 0));
    b.Integers("bq", kInt32, {l.oc}, l.bias);
    b.Node("DequantizeLinear", {"bq", "sb", "zb"}, {"bd"}).Int("axis", 0);
    inputs.push_back("bd");
  }
  const bool gemm = l.k == 0 && !l.bias.empty();
  Window(b.Node(l.k > 0 ? "Conv" : gemm ? "Gemm" : "MatMul", inputs, {y}), l);
  return b;
}

TEST(QuantizedTest, DequantizedOperandsAreMultipliedAsIntegers) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Layer l = Draw(random);
    ModelBuilder b = Dequantized(l);
    const ImportedModel model = Import(b);
    EXPECT_TRUE(HasDot(model)) << "seed " << seed;
    const std::vector<double> y = EvaluateReal(model, l);
    const std::vector<double> expected = l.Outputs([&](int64_t o, int64_t sum) {
      if (!l.bias.empty()) sum += l.bias[o];
      return static_cast<double>(sum) * l.x_scale * l.Scale(o);
    });
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(y[i], expected[i]) << "seed " << seed;
  }
}

// Whether the model scales and rounds sums of integers in one step.
bool Requantizes(const ImportedModel& model) {
  return std::any_of(
      model.graph.tensors().begin(), model.graph.tensors().end(),
      [](const Tensor& tensor) { return tensor.hint.word() == "requantize"; });
}

// The layer's result through `bounds`, quantized in steps of 1/4 from `zero`.
ModelBuilder QuantizedLayer(const Layer& l, const std::string& bounds,
                            int64_t zero) {
  ModelBuilder b = Dequantized(l, "f");
  b.Floats("sy", {}, {0.25f}).Integers("zy", kUInt8, {}, {zero});
  b.Floats("low", {}, {0})
      .Floats("most", {}, {63.75f})
      .Floats("less", {}, {60});
  if (bounds == "Relu") b.Node("Relu", {"f"}, {"g"});
  if (bounds == "most" || bounds == "less")
    b.Node("Clip", {"f", "low", bounds}, {"g"});
  b.Node("QuantizeLinear", {bounds.empty() ? "f" : "g", "sy", "zy"}, {"q"});
  b.Node("DequantizeLinear", {"q", "sy", "zy"}, {"y"});
  return b;
}

TEST(QuantizedTest, LayersBetweenIntegersRoundOnce) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Layer l = Draw(random);
    const std::string bounds = std::vector<std::string>{
        "", "Relu", "most", "less"}[random.UniformInt(0, 3)];
    const int64_t zero = random.Bernoulli(0.5) ? 0 : random.UniformInt(1, 255);
    ModelBuilder b = QuantizedLayer(l, bounds, zero);
    const ImportedModel model = Import(b);
    // 0 is the least number of the grid if its zero point is; 63.75 is the most
    // then.
    const bool cuts = !bounds.empty() && (zero > 0 || bounds == "less");
    const bool gemm = l.k == 0 && !l.bias.empty();
    EXPECT_EQ(Requantizes(model), !cuts && !gemm) << "seed " << seed;
    EXPECT_TRUE(HasDot(model)) << "seed " << seed;
    const std::vector<double> y = EvaluateReal(model, l);
    const std::vector<double> expected = l.Outputs([&](int64_t o, int64_t sum) {
      if (!l.bias.empty()) sum += l.bias[o];
      double f = static_cast<double>(sum) * l.x_scale * l.Scale(o);
      if (bounds == "Relu") f = std::max(f, 0.0);
      if (bounds == "most") f = std::clamp(f, 0.0, 63.75);
      if (bounds == "less") f = std::clamp(f, 0.0, 60.0);
      const double q = std::clamp(
          std::nearbyint(f * 4) + static_cast<double>(zero), 0.0, 255.0);
      return (q - static_cast<double>(zero)) / 4;
    });
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(y[i], expected[i]) << "seed " << seed;
  }
}

// As models are written that were trained for 8 bits.
TEST(QuantizedTest, WeightsThatTheModelQuantizesAreConstants) {
  ModelBuilder b;
  b.Input("x", {1, 2}, kUInt8).Output("y");
  b.Floats("s", {}, {0.5f}).Integers("z", kUInt8, {}, {0});
  b.Floats("w", {2, 2}, {1.0f, -4.0f, 0.3f, 600.0f});
  b.Floats("sw", {2}, {0.25f, 2.0f}).Integers("zw", kInt8, {2}, {0, 0});
  b.Node("DequantizeLinear", {"x", "s", "z"}, {"xd"});
  b.Node("QuantizeLinear", {"w", "sw", "zw"}, {"wq"}).Int("axis", 1);
  b.Node("DequantizeLinear", {"wq", "sw", "zw"}, {"wd"}).Int("axis", 1);
  b.Node("MatMul", {"xd", "wd"}, {"y"});
  const ImportedModel model = Import(b);
  EXPECT_TRUE(HasDot(model));
  // Columns of 1 and 0.25, and of -4 and 254.
  EXPECT_EQ(Evaluate(model, {2, 4}), (std::vector<double>{1.5, 504}));
}

// Weights of four bits, and results of four, are no operands of QLinearMatMul.
TEST(QuantizedTest, NarrowIntegersStayDequantized) {
  for (const bool narrow_result : {false, true}) {
    ModelBuilder b(21);
    b.Input("x", {1, 2}, kUInt8).Output("y");
    b.Floats("s", {}, {0.5f}).Integers("z", kUInt8, {}, {0});
    const int narrow = 22;  // INT4, two to a byte: 3 and -2
    b.Integers("w", narrow_result ? kInt8 : narrow, {2, 1},
               narrow_result ? Numbers{3, -2} : Numbers{0xe3});
    b.Integers("zw", narrow_result ? kInt8 : narrow, {}, {0});
    b.Integers("zy", narrow_result ? narrow : kInt8, {}, {0});
    b.Node("DequantizeLinear", {"x", "s", "z"}, {"xd"});
    b.Node("DequantizeLinear", {"w", "s", "zw"}, {"wd"});
    b.Node("MatMul", {"xd", "wd"}, {"f"});
    b.Node("QuantizeLinear", {"f", "s", "zy"}, {"q"});
    b.Node("DequantizeLinear", {"q", "s", "zy"}, {"y"});
    const ImportedModel model = Import(b);
    EXPECT_FALSE(Requantizes(model));
    // 20 times 1.5 less 1; four bits hold no more than 7 halves.
    EXPECT_EQ(Evaluate(model, {40, 2}),
              std::vector<double>{narrow_result ? 3.5 : 29.0});
  }
}

// Of one channel each, as depthwise ones, whose sums are small; others have no
// instruction for integers.
TEST(QuantizedTest, GroupsOfOneChannelAreIntegers) {
  for (const int64_t channels : {1, 2}) {
    ModelBuilder b;
    b.Input("x", {1, 2 * channels, 3, 3}, kUInt8).Output("y", {-2}, kUInt8);
    b.Floats("s", {}, {0.5f}).Integers("z", kUInt8, {}, {3});
    b.Integers("w", kInt8, {2, channels, 1, 1}, Numbers(2 * channels, 4));
    b.Integers("zw", kInt8, {}, {0});
    b.Node("DequantizeLinear", {"x", "s", "z"}, {"xd"});
    b.Node("DequantizeLinear", {"w", "s", "zw"}, {"wd"});
    b.Node("Conv", {"xd", "wd"}, {"f"}).Int("group", 2);
    b.Node("QuantizeLinear", {"f", "s", "z"}, {"y"});
    const ImportedModel model = Import(b);
    EXPECT_EQ(Requantizes(model), channels == 1);
    // (7 - 3) / 2 times 2, of each channel, in halves behind 3.
    EXPECT_EQ(
        Evaluate(model, Numbers(18 * channels, 7)),
        std::vector<double>(18, 3.0 + 8.0 * static_cast<double>(channels)));
  }
}

TEST(QuantizedTest, IntegerOperatorsAreExact) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Layer l = Draw(random);
    const int64_t channels = static_cast<int64_t>(l.w_zeros.size());
    // The zero point is one that the model has, or one that it is given.
    for (const bool known : {true, false}) {
      ModelBuilder b;
      b.Input("x", l.x_shape(), l.x_type).Output("y", {-2}, kInt32);
      std::vector<Numbers> inputs = {l.x};
      if (known) {
        b.Integers("zx", l.x_type, {}, {l.x_zero});
      } else {
        b.Input("zx", {}, l.x_type);
        inputs.push_back({l.x_zero});
      }
      b.Integers("zw", l.w_type, channels == 1 ? Numbers{} : Numbers{channels},
                 l.w_zeros);
      b.Integers("w", l.w_type, l.w_shape(), l.weights);
      Window(b.Node(l.k > 0 ? "ConvInteger" : "MatMulInteger",
                    {"x", "w", "zx", "zw"}, {"y"}),
             l);
      const ImportedModel model = Import(b);
      EXPECT_TRUE(HasDot(model)) << "seed " << seed;
      EXPECT_EQ(Evaluate(model, inputs), l.Outputs([](int64_t, int64_t sum) {
        return static_cast<double>(sum);
      })) << "seed "
          << seed << (known ? "" : ", zero point not known");
    }
  }
}

TEST(QuantizedTest, QLinearOperatorsScaleAndRound) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Layer l = Draw(random);
    const int64_t channels = static_cast<int64_t>(l.w_zeros.size());
    const Numbers by_channel = channels == 1 ? Numbers{} : Numbers{channels};
    const float y_scale = 0.25f;
    ModelBuilder b;
    b.Input("x", l.x_shape(), l.x_type).Output("y", {-2}, kUInt8);
    b.Floats("sx", {}, {l.x_scale}).Integers("zx", l.x_type, {}, {l.x_zero});
    b.Floats("sw", by_channel, l.w_scales);
    b.Integers("zw", l.w_type, by_channel, l.w_zeros);
    b.Integers("w", l.w_type, l.w_shape(), l.weights);
    b.Floats("sy", {}, {y_scale}).Integers("zy", kUInt8, {}, {100});
    std::vector<std::string> inputs = {"x",  "sx", "zx", "w",
                                       "sw", "zw", "sy", "zy"};
    const bool has_bias = l.k > 0 && !l.bias.empty();
    if (has_bias) {
      b.Integers("b", kInt32, {l.oc}, l.bias);
      inputs.push_back("b");
    }
    Window(b.Node(l.k > 0 ? "QLinearConv" : "QLinearMatMul", inputs, {"y"}), l);
    EXPECT_EQ(Evaluate(Import(b), l.x), l.Outputs([&](int64_t o, int64_t sum) {
      if (has_bias) sum += l.bias[o];
      const double real =
          static_cast<double>(sum) * l.x_scale * l.Scale(o) / y_scale;
      return std::min(255.0, std::max(0.0, std::nearbyint(real) + 100));
    })) << "seed "
        << seed;
  }
}

// Dynamic weights have the general form.
TEST(QuantizedTest, WeightsNeedNotBeConstant) {
  ModelBuilder b;
  b.Input("x", {2, 2}, kUInt8).Output("y", {-2}, kInt32);
  b.Integers("zx", kUInt8, {}, {3}).Integers("zw", kUInt8, {}, {250});
  b.Node("MatMulInteger", {"x", "x", "zx", "zw"}, {"y"});
  // [[-3, 252], [4, 5]] times [[-250, 5], [-243, -242]]
  EXPECT_EQ(
      Evaluate(Import(b), {0, 255, 7, 8}),
      (std::vector<double>{-3.0 * -250 + 252 * -243, -3.0 * 5 + 252 * -242,
                           4.0 * -250 + 5 * -243, 4.0 * 5 + 5 * -242}));
}

// [1, n] times [n, 1] of dequantized operands.
ModelBuilder LongProduct(int64_t n, int64_t weight) {
  ModelBuilder b;
  b.Input("x", {1, n}, kUInt8).Output("y");
  b.Floats("s", {}, {1}).Integers("zx", kUInt8, {}, {0});
  b.Integers("zw", kInt8, {}, {0});
  b.Integers("wq", kInt8, {n, 1}, Numbers(n, weight));
  b.Node("DequantizeLinear", {"x", "s", "zx"}, {"xd"});
  b.Node("DequantizeLinear", {"wq", "s", "zw"}, {"wd"});
  b.Node("MatMul", {"xd", "wd"}, {"y"});
  return b;
}

TEST(QuantizedTest, SumsThatCouldLeaveTheirTypeStayFloats) {
  // 2^31 - 1 = 255 * 128 * 65793.0...
  ModelBuilder fits = LongProduct(65793, -128);
  const ImportedModel model = Import(fits);
  EXPECT_TRUE(HasDot(model));
  EXPECT_EQ(Evaluate(model, Numbers(65793, 255)),
            std::vector<double>{static_cast<float>(-128.0 * 255 * 65793)});
  ModelBuilder leaves = LongProduct(65794, -128);
  EXPECT_FALSE(HasDot(Import(leaves)));
  ModelBuilder smaller = LongProduct(65794, 127);
  EXPECT_TRUE(HasDot(Import(smaller)));
}

// Products of other forms than a plain product of bytes stay as they were.
TEST(QuantizedTest, OtherProductsStayFloats) {
  Random random(1);
  Layer l = Draw(random);
  l.k = 1;
  l.stride = 1;
  l.w_type = kUInt8;
  l.ic = l.oc = 4;
  l.h = l.w = 3;
  l.x.assign(36, 7);
  l.weights.assign(16, 255);
  l.w_scales = {0.5f};
  l.w_zeros = {0};  // 255 does not fit in i8
  l.bias.clear();
  ModelBuilder b = Dequantized(l);
  EXPECT_FALSE(HasDot(Import(b)));
  l.weights.assign(16, 127);
  ModelBuilder fits = Dequantized(l);
  EXPECT_TRUE(HasDot(Import(fits)));
}

TEST(QuantizedTest, PoolsAndMovesWorkOnIntegers) {
  ModelBuilder b;
  b.Input("x", {1, 1, 2, 2}, kUInt8).Output("y");
  b.Floats("s", {}, {0.5f}).Integers("z", kUInt8, {}, {100});
  b.Node("DequantizeLinear", {"x", "s", "z"}, {"d"});
  b.Node("MaxPool", {"d"}, {"p"})
      .Ints("kernel_shape", {2, 2})
      .Ints("pads", {1, 1, 0, 0});
  b.Node("Flatten", {"p"}, {"y"});
  const ImportedModel model = Import(b);
  for (const Tensor& tensor : model.graph.tensors()) {
    if (tensor.hint.word() == "pool") {
      EXPECT_EQ(tensor.dtype, DType::kUInt8);
    }
  }
  EXPECT_EQ(Evaluate(model, {10, 20, 30, 40}),
            (std::vector<double>{-45, -40, -35, -30}));
}

}  // namespace
}  // namespace tilewright
