// The functions as machine code: every 257th float, and samples of pow and of
// f64.
#include <cmath>
#include <cstring>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/cpu/function_sweep.h"
#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/lowering/function_oracle.h"
#include "backends/spec/cpu_features.h"
#include "backends/spec/host_spec.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/dtype.h"

namespace tilewright::cpu {
namespace {

// Without fused multiply-add, and the best this host has.
std::vector<std::string> Classes() {
  const absl::StatusOr<std::string> best = BestCpuClass(HostCpuFeatures());
  if (!best.ok() || *best == "x86-64-v2") return {"x86-64-v2"};
  return {"x86-64-v2", *best};
}

using Parameter = std::tuple<Op, std::string>;

std::string TestName(const ::testing::TestParamInfo<Parameter>& info) {
  std::string name = std::string(Name(std::get<0>(info.param))) + "_" +
                     std::get<1>(info.param);
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

// FunctionsTest: any function. UnaryFunctionsTest: all but pow. PowTest: pow.
class FunctionsTest : public ::testing::TestWithParam<Parameter> {};
class UnaryFunctionsTest : public FunctionsTest {};
class PowTest : public FunctionsTest {};

TEST_P(UnaryFunctionsTest, Every257thFloatIsWithinItsBound) {
  const auto& [op, cpu_class] = GetParam();
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec,
                          CpuSpec(cpu_class, QueryHostStructure()));
  TW_ASSERT_OK_AND_ASSIGN(const auto function,
                          CompiledFunction::Compile(op, DType::kFloat32, spec));
  TW_ASSERT_OK_AND_ASSIGN(
      const SweepResult result,
      SweepFloats(*function, op, 0, uint64_t{1} << 32, 257));
  EXPECT_EQ(result.values, ((uint64_t{1} << 32) + 256) / 257);
  EXPECT_LE(result.max_ulp, lowering::UlpBound(op)) << "at " << result.worst;
}

// Runs x and y, padded with their first elements to a multiple of the kernel's
// size, and returns the largest error.
template <typename T, typename Wide>
void ExpectWithinBound(CompiledFunction& function, Op op, std::vector<T> x,
                       std::vector<T> y) {
  const size_t step = CompiledFunction::kElements;
  while (x.size() % step != 0) {
    x.push_back(x[0]);
    y.push_back(y[0]);
  }
  std::vector<T> z(x.size());
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < x.size(); i += step) {
    TW_ASSERT_OK(function.Run(&x[i], &y[i], &z[i]));
    for (size_t j = i; j < i + step; ++j) {
      const double error = lowering::UlpError(
          z[j], lowering::FunctionReference(op, Wide{x[j]}, Wide{y[j]}));
      if (error > worst) {
        worst = error;
        at = j;
      }
    }
  }
  EXPECT_LE(worst, lowering::UlpBound(op))
      << "at " << x[at] << ", " << y[at] << ": " << z[at];
  ::testing::Test::RecordProperty("max_ulp", std::to_string(worst));
}

// A third of any bits, a third of everyday size, a third near where log2|x| is
// small and its multiple is not.
template <typename T>
void Draw(Random& random, int count, std::vector<T>& x, std::vector<T>& y) {
  const auto any = [&] {
    const uint64_t bits = random.Next();
    T value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  };
  for (int i = 0; i < count; ++i) {
    switch (random.Index(3)) {
      case 0:
        x.push_back(any());
        y.push_back(any());
        break;
      case 1:
        x.push_back(static_cast<T>(random.Uniform(-20, 20)));
        y.push_back(random.Bernoulli(0.5)
                        ? static_cast<T>(random.Uniform(-40, 40))
                        : static_cast<T>(random.UniformInt(-40, 40)));
        break;
      default: {
        const double log2 = std::exp2(random.Uniform(-30, 4)) *
                            (random.Bernoulli(0.5) ? 1 : -1);
        x.push_back(static_cast<T>(std::exp2(log2)));
        y.push_back(static_cast<T>(random.Uniform(-1, 1) *
                                   (sizeof(T) == 4 ? 140 : 1060) / log2));
      }
    }
  }
}

// For pow every special value with one in 16 of them, others for each.
template <typename T>
void AddSpecialPairs(Op op, std::vector<T>& x, std::vector<T>& y) {
  const std::vector<T> special = lowering::SpecialArguments<T>();
  for (size_t i = 0; i < special.size(); ++i) {
    for (size_t j = op == Op::kPow ? i % 16 : i; j < special.size();
         j += op == Op::kPow ? 16 : special.size()) {
      x.push_back(special[i]);
      y.push_back(special[j]);
    }
  }
}

TEST_P(FunctionsTest, SampledDoublesAreWithinTheBound) {
  const auto& [op, cpu_class] = GetParam();
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec,
                          CpuSpec(cpu_class, QueryHostStructure()));
  TW_ASSERT_OK_AND_ASSIGN(const auto function,
                          CompiledFunction::Compile(op, DType::kFloat64, spec));
  std::vector<double> x, y;
  AddSpecialPairs(op, x, y);
  Random random(29);
  Draw(random, 1000000, x, y);
  ExpectWithinBound<double, long double>(*function, op, x, y);
}

TEST_P(PowTest, SampledPairsOfFloatsAreWithinTheBound) {
  const auto& [op, cpu_class] = GetParam();
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec,
                          CpuSpec(cpu_class, QueryHostStructure()));
  TW_ASSERT_OK_AND_ASSIGN(const auto function,
                          CompiledFunction::Compile(op, DType::kFloat32, spec));
  std::vector<float> x, y;
  AddSpecialPairs(op, x, y);
  Random random(31);
  Draw(random, 4000000, x, y);
  ExpectWithinBound<float, double>(*function, op, x, y);
}

// The powers of two that exp and its like multiply by: every number of lanes.
TEST(ScaleTest, EveryWidthRoundsOnce) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, HostSpec());
  TW_ASSERT_OK_AND_ASSIGN(const lowering::FunctionOptions options,
                          CpuFunctionOptions(spec));
  if (!options.scale) GTEST_SKIP() << "no such instruction on this host";
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, CreateCpuCodegen(spec));
  TW_ASSERT_OK_AND_ASSIGN(const auto device, CreateCpuDevice({}));
  TW_ASSERT_OK_AND_ASSIGN(const auto stream, device->CreateStream());
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const int lanes : {1, 2, 3, 4, 8, 12, 16, 20, 32}) {
      kernel_ir::ScalarBuilder b("scale");
      using kernel_ir::Role;
      const int x = b.AddArgument("x", dtype, Role::kInput, lanes);
      const int n = b.AddArgument("n", dtype, Role::kInput, lanes);
      const int y = b.AddArgument("y", dtype, Role::kOutput, lanes);
      b.Store(y, kernel_ir::kNoReg, 0,
              b.Scale(b.Load(x, kernel_ir::kNoReg, 0, lanes),
                      b.Load(n, kernel_ir::kNoReg, 0, lanes)));
      const kernel_ir::ScalarKernel kernel = std::move(b).Finish();
      TW_ASSERT_OK_AND_ASSIGN(const auto module, codegen->Emit({kernel}));
      TW_ASSERT_OK_AND_ASSIGN(const auto loaded,
                              device->LoadModule(module.bytes, module.target));
      TW_ASSERT_OK_AND_ASSIGN(const auto function,
                              device->GetKernel(*loaded, kernel.name));
      const int64_t bytes = lanes * SizeBytes(dtype);
      Random random(37);
      for (int round = 0; round < 20; ++round) {
        std::vector<std::string> args(3, std::string(bytes, '\0'));
        for (int i = 0; i < lanes; ++i) {
          const double value = random.Normal();
          const double power = std::round(random.Uniform(-1, 1) * 1100);
          if (dtype == DType::kFloat32) {
            const float f = static_cast<float>(value),
                        p = static_cast<float>(power / 6);
            const float whole = std::round(p);
            std::memcpy(&args[0][i * sizeof(f)], &f, sizeof(f));
            std::memcpy(&args[1][i * sizeof(f)], &whole, sizeof(f));
          } else {
            std::memcpy(&args[0][i * sizeof(value)], &value, sizeof(value));
            std::memcpy(&args[1][i * sizeof(power)], &power, sizeof(power));
          }
        }
        std::vector<std::string> want = args;
        TW_ASSERT_OK(kernel_ir::InterpretScalarKernel(
            kernel, absl::MakeSpan(want), 0, 1));
        TW_ASSERT_OK_AND_ASSIGN(const auto memory,
                                device->Allocate(3 * 64 * 8));
        auto* const base = static_cast<char*>(memory->address());
        std::vector<void*> pointers;
        for (int i = 0; i < 3; ++i) {
          pointers.push_back(base + i * 64 * 8);
          std::memcpy(pointers.back(), args[i].data(), bytes);
        }
        TW_ASSERT_OK(stream->Launch(*function, pointers, 1, 0));
        TW_ASSERT_OK(stream->Synchronize());
        EXPECT_EQ(std::memcmp(pointers[2], want[2].data(), bytes), 0)
            << Name(dtype) << " by " << lanes;
      }
    }
  }
}

std::vector<Op> Unary() {
  return {std::begin(lowering::kFunctions),
          std::prev(std::end(lowering::kFunctions))};
}

INSTANTIATE_TEST_SUITE_P(All, UnaryFunctionsTest,
                         ::testing::Combine(::testing::ValuesIn(Unary()),
                                            ::testing::ValuesIn(Classes())),
                         TestName);
INSTANTIATE_TEST_SUITE_P(
    All, FunctionsTest,
    ::testing::Combine(::testing::ValuesIn(lowering::kFunctions),
                       ::testing::ValuesIn(Classes())),
    TestName);
INSTANTIATE_TEST_SUITE_P(All, PowTest,
                         ::testing::Combine(::testing::Values(Op::kPow),
                                            ::testing::ValuesIn(Classes())),
                         TestName);

}  // namespace
}  // namespace tilewright::cpu
