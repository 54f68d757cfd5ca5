#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/testing/imported.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {
namespace {

using Strings = std::vector<std::string>;

constexpr int kUInt8 = onnx::TensorProto::UINT8;

struct Byte {
  float scale;
  int64_t zero;
  float Of(int64_t q) const { return static_cast<float>(q - zero) * scale; }
};

Byte Draw(Random& random) {
  return {static_cast<float>(random.UniformInt(1, 1 << 20)) * 0x1p-24f,
          random.UniformInt(0, 255)};
}

// What a node makes of two bytes, as its definition says.
template <typename T>
float Result(const std::string& op, T a, T b) {
  if (op == "Add") return static_cast<float>(a + b);
  if (op == "Mul") return static_cast<float>(a * b);
  if (op == "Relu") return static_cast<float>(std::max(a, T{0}));
  return static_cast<float>(1 / (1 + std::exp(-static_cast<double>(a))));
}

// The first output with tensors rounded to floats, as kernels have them.
HostTensor Rounded(const ImportedModel& model, std::vector<HostTensor> inputs) {
  std::map<TensorId, HostTensor> values;
  for (size_t i = 0; i < inputs.size(); ++i)
    values.emplace(model.inputs[i].tensor, std::move(inputs[i]));
  auto interpreter =
      Interpreter::Create(model.graph, std::move(values), {true});
  EXPECT_TRUE(interpreter.ok());
  auto y = (*interpreter)->Evaluate(model.outputs[0].tensor);
  EXPECT_TRUE(y.ok());
  return *std::move(y);
}

// All pairs of bytes, dequantized, through the node and quantized; less the
// zero point.
ModelBuilder Quantized(const std::string& op, const Byte& a, const Byte& b,
                       const Byte& y) {
  const bool binary = op == "Add" || op == "Mul";
  ModelBuilder m;
  m.Input("a", {256}, kUInt8).Input("b", {256, 1}, kUInt8).Output("y");
  m.Floats("sa", {}, {a.scale}).Integers("za", kUInt8, {}, {a.zero});
  m.Floats("sb", {}, {b.scale}).Integers("zb", kUInt8, {}, {b.zero});
  m.Floats("sy", {}, {y.scale}).Integers("zy", kUInt8, {}, {y.zero});
  m.Floats("one", {}, {1});
  m.Node("DequantizeLinear", {"a", "sa", "za"}, {"ad"});
  m.Node("DequantizeLinear", {"b", "sb", "zb"}, {"bd"});
  m.Node(op, binary ? Strings{"ad", "bd"} : Strings{"ad"}, {"f"});
  m.Node("QuantizeLinear", {"f", "sy", "zy"}, {"q"});
  m.Node("DequantizeLinear", {"q", "one", "zy"}, {"y"});
  return m;
}

HostTensor AllBytes(const std::vector<int64_t>& shape) {
  HostTensor bytes(DType::kUInt8, shape);
  for (int64_t q = 0; q < 256; ++q) bytes.Set(q, Scalar{0, q});
  return bytes;
}

bool Divides(const ImportedModel& model) {
  const auto& tensors = model.graph.tensors();
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
    return tensor.kind == TensorKind::kCompute &&
           tensor.compute.body[0].op() == Op::kDiv;
  });
}

TEST(ExactProductsTest, TheyGiveTheIntegersOfTheQuotients) {
  int products = 0;
  constexpr int kCases = 60;
  for (uint64_t seed = 0; seed < kCases; ++seed) {
    Random random(seed);
    const std::string op =
        Strings{"Add", "Mul", "Relu", "Sigmoid"}[random.UniformInt(0, 3)];
    const Byte a = Draw(random), b = Draw(random);
    Byte y = Draw(random);
    if (op == "Mul") y.scale *= a.scale;
    if (op == "Sigmoid") y.scale = 1 / 255.0f;
    ModelBuilder builder = Quantized(op, a, b, y);
    const ImportedModel model = Import(builder);
    products += Divides(model) ? 0 : 1;
    const HostTensor results =
        Rounded(model, {AllBytes({256}), AllBytes({256, 1})});
    const bool binary = op == "Add" || op == "Mul";
    ASSERT_EQ(results.num_elements(), binary ? 65536 : 256);
    for (int64_t i = 0; i < results.num_elements(); ++i) {
      const auto integer = [&](float f) {
        const float q =
            std::nearbyint(f / y.scale) + static_cast<float>(y.zero);
        return std::clamp(q, 0.0f, 255.0f) - static_cast<float>(y.zero);
      };
      const int64_t qa = i % 256, qb = i / 256;
      // Whether operands are rounded before may decide a tie.
      const float one = integer(Result(op, a.Of(qa), b.Of(qb)));
      const float other =
          integer(Result(op, static_cast<double>(qa - a.zero) * a.scale,
                         static_cast<double>(qb - b.zero) * b.scale));
      const auto result = static_cast<float>(results.Get(i).f);
      ASSERT_TRUE(result == one || result == other)
          << op << " seed " << seed << " of " << qa << " and " << qb << ": "
          << result << ", not " << one;
    }
  }
  EXPECT_GT(products, kCases / 3);
}

// Each part has a scale of its own.
TEST(ExactProductsTest, PartsOfAConcatenationAreBytes) {
  const Byte a{0.0371f, 101}, b{0.052f, 7}, y{0.0616f, 40};
  ModelBuilder m;
  m.Input("a", {256}, kUInt8).Input("b", {256}, kUInt8).Output("y");
  m.Floats("sa", {}, {a.scale}).Integers("za", kUInt8, {}, {a.zero});
  m.Floats("sb", {}, {b.scale}).Integers("zb", kUInt8, {}, {b.zero});
  m.Floats("sy", {}, {y.scale}).Integers("zy", kUInt8, {}, {y.zero});
  m.Floats("one", {}, {1});
  m.Node("DequantizeLinear", {"a", "sa", "za"}, {"ad"});
  m.Node("DequantizeLinear", {"b", "sb", "zb"}, {"bd"});
  m.Node("Concat", {"ad", "bd"}, {"c"}).Int("axis", 0);
  m.Node("Relu", {"c"}, {"r"});
  m.Node("QuantizeLinear", {"r", "sy", "zy"}, {"q"});
  m.Node("DequantizeLinear", {"q", "one", "zy"}, {"y"});
  const ImportedModel model = Import(m);
  EXPECT_FALSE(Divides(model));
  const HostTensor results = Rounded(model, {AllBytes({256}), AllBytes({256})});
  for (int64_t i = 0; i < 512; ++i) {
    const float f = std::max((i < 256 ? a : b).Of(i % 256), 0.0f);
    const float q = std::nearbyint(f / y.scale) + static_cast<float>(y.zero);
    EXPECT_EQ(static_cast<float>(results.Get(i).f),
              std::clamp(q, 0.0f, 255.0f) - static_cast<float>(y.zero))
        << i;
  }
}

TEST(ExactProductsTest, NotWhereNothingIsKnownOfWhatIsDivided) {
  ModelBuilder known = Quantized("Relu", {0.1f, 0}, {1, 0}, {0.1f, 0});
  EXPECT_FALSE(Divides(Import(known)));
  ModelBuilder b;
  b.Input("x", {4}).Output("y");
  b.Floats("s", {}, {0.1f}).Integers("z", kUInt8, {}, {0});
  b.Floats("one", {}, {1});
  b.Node("Relu", {"x"}, {"r"});
  b.Node("QuantizeLinear", {"r", "s", "z"}, {"q"});
  b.Node("DequantizeLinear", {"q", "one", "z"}, {"y"});
  EXPECT_TRUE(Divides(Import(b)));
}

}  // namespace
}  // namespace tilewright
