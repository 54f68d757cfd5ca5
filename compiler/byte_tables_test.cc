// An activation between quantized layers, compiled: a table in the kernel of
// the layer before it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/device.h"
#include "backends/spec/cpu_features.h"
#include "backends/spec/load_spec.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "compiler/compile.h"
#include "compiler/test_model.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

constexpr int64_t kRows = 13, kColumns = 37, kTerms = 24;

// A product of bytes, scaled to bytes; its SiLU, with 8 bits between.
const char* const kGraph = R"(
  X: u8[13, 24] = placeholder
  W: i8[37, 24] = placeholder
  S: i32[13, 37] = compute (m: 13, n: 37) reduce (k: 24) sum:i32 {
    cast:i32(X[m, k]) * cast:i32(W[n, k]) }
  Q: u8[13, 37] = compute (m: 13, n: 37) {
    cast:u8(round(cast:f32(S[m, n]) * 0.0078125) + 101.0) }
  G: f32[13, 37] = compute (m: 13, n: 37) {
    sigmoid(cast:f32(cast:i32(Q[m, n]) - 101:i32) * 0.043) }
  H: u8[13, 37] = compute (m: 13, n: 37) {
    cast:u8(round(G[m, n] * 255.0)) }
  P: f32[13, 37] = compute (m: 13, n: 37) {
    cast:f32(cast:i32(Q[m, n]) - 101:i32) * 0.043 *
    (cast:f32(cast:i32(H[m, n])) * 0.00390625) }
  Y: i8[13, 37] = compute (m: 13, n: 37) {
    cast:i8(round(P[m, n] * 23.7) - 20.0) }
  return Y
)";

float Clamped(float value, float least, float most) {
  return std::min(std::max(value, least), most);
}

int Silu(int byte) {
  const float x = static_cast<float>(byte - 101) * 0.043f;
  const auto gate =
      static_cast<float>(1 / (1 + std::exp(-static_cast<double>(x))));
  const float h = Clamped(std::nearbyint(gate * 255.0f), 0, 255);
  const float product = x * (h * 0.00390625f);
  return static_cast<int>(
      Clamped(std::nearbyint(product * 23.7f) - 20, -128, 127));
}

class ByteTablesTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ByteTablesTest, IsPartOfTheLayerAndRight) {
  TW_ASSERT_OK_AND_ASSIGN(const auto missing,
                          MissingCpuFeatures(GetParam(), HostCpuFeatures()));
  if (!missing.empty()) GTEST_SKIP() << "this host lacks " << missing[0];
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("cpu:" + GetParam()));
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, cpu::CreateCpuCodegen(spec));
  TW_ASSERT_OK_AND_ASSIGN(TensorGraph graph, ParseText(kGraph));
  const ImportedModel model = ModelOf(std::move(graph));
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                          Compile(model, *codegen, CompileOptions()));
  EXPECT_EQ(compiled.plan.groups.size(), 1u);
  // Lane by lane it is worth reading for short vectors.
  EXPECT_EQ(compiled.graph.Find("Y.table").has_value(),
            HasFeature(spec, "avx512vbmi") || spec.unit().vector_bytes() < 32);

  HostTensor x(DType::kUInt8, {kRows, kTerms}),
      w(DType::kInt8, {kColumns, kTerms});
  Random random(3);
  for (int64_t i = 0; i < x.num_elements(); ++i)
    x.Set(i, Scalar{0, random.UniformInt(0, 255)});
  for (int64_t i = 0; i < w.num_elements(); ++i)
    w.Set(i, Scalar{0, random.UniformInt(-30, 30)});
  TW_ASSERT_OK_AND_ASSIGN(const std::shared_ptr<backends::Device> device,
                          cpu::CreateCpuDevice({2}));
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<HostTensor> outputs,
                          RunCompiled(compiled, device, model, {x, w}));
  std::vector<bool> met(256);
  for (int64_t m = 0; m < kRows; ++m) {
    for (int64_t n = 0; n < kColumns; ++n) {
      int64_t sum = 0;
      for (int64_t k = 0; k < kTerms; ++k)
        sum += x.Get(m * kTerms + k).i * w.Get(n * kTerms + k).i;
      const float scaled =
          std::nearbyint(static_cast<float>(sum) * 0.0078125f) + 101;
      const int byte = static_cast<int>(Clamped(scaled, 0, 255));
      met[byte] = true;
      EXPECT_EQ(outputs[0].Get(m * kColumns + n).i, Silu(byte))
          << m << ", " << n << ": " << byte;
    }
  }
  EXPECT_GT(std::count(met.begin(), met.end(), true), 100);
}

INSTANTIATE_TEST_SUITE_P(All, ByteTablesTest, ::testing::ValuesIn(CpuClasses()),
                         [](const auto& i) {
                           std::string name = i.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace tilewright
