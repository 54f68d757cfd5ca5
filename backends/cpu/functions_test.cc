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
#include "backends/lowering/testing/function_oracle.h"
#include "backends/spec/cpu_features.h"
#include "backends/spec/host_spec.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"

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

// Machine code and the interpreter make the same bits of `kernel`'s last
// argument, for every one of `runs`.
void ExpectAsInterpreted(const DeviceSpec& spec,
                         const kernel_ir::ScalarKernel& kernel,
                         const std::vector<std::vector<std::string>>& runs) {
  TW_ASSERT_OK_AND_ASSIGN(const auto codegen, CreateCpuCodegen(spec));
  TW_ASSERT_OK_AND_ASSIGN(const auto device, CreateCpuDevice({}));
  TW_ASSERT_OK_AND_ASSIGN(const auto stream, device->CreateStream());
  TW_ASSERT_OK_AND_ASSIGN(const auto module, codegen->Emit({kernel}));
  TW_ASSERT_OK_AND_ASSIGN(const auto loaded,
                          device->LoadModule(module.bytes, module.target));
  TW_ASSERT_OK_AND_ASSIGN(const auto function,
                          device->GetKernel(*loaded, kernel.name));
  constexpr size_t kMostBytes = 512;  // of an argument
  for (const std::vector<std::string>& args : runs) {
    std::vector<std::string> want = args;
    TW_ASSERT_OK(
        kernel_ir::InterpretScalarKernel(kernel, absl::MakeSpan(want), 0, 1));
    TW_ASSERT_OK_AND_ASSIGN(const auto memory,
                            device->Allocate(args.size() * kMostBytes));
    auto* next = static_cast<char*>(memory->address());
    std::vector<void*> pointers;
    for (const std::string& arg : args) {
      ASSERT_LE(arg.size(), kMostBytes);
      std::memcpy(next, arg.data(), arg.size());
      pointers.push_back(next);
      next += kMostBytes;
    }
    TW_ASSERT_OK(stream->Launch(*function, pointers, 1, 0));
    TW_ASSERT_OK(stream->Synchronize());
    EXPECT_EQ(
        std::memcmp(pointers.back(), want.back().data(), want.back().size()), 0)
        << kernel.ToString();
  }
}

template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()),
                     values.size() * sizeof(T));
}

constexpr int kLaneCounts[] = {1, 2, 3, 4, 8, 12, 16, 20, 32};

// The powers of two that exp and its like multiply by, and what lies between
// them.
template <typename T>
void ExpectEveryWidthScales(const DeviceSpec& spec, DType dtype,
                            double largest) {
  Random random(37);
  for (const int lanes : kLaneCounts) {
    kernel_ir::ScalarBuilder b("scale");
    using kernel_ir::Role;
    const int x = b.AddArgument("x", dtype, Role::kInput, lanes);
    const int n = b.AddArgument("n", dtype, Role::kInput, lanes);
    const int y = b.AddArgument("y", dtype, Role::kOutput, lanes);
    b.Store(y, kernel_ir::kNoReg, 0,
            b.Scale(b.Load(x, kernel_ir::kNoReg, 0, lanes),
                    b.Load(n, kernel_ir::kNoReg, 0, lanes)));
    std::vector<std::vector<std::string>> runs;
    for (int round = 0; round < 20; ++round) {
      std::vector<T> values, powers;
      for (int i = 0; i < lanes; ++i) {
        values.push_back(static_cast<T>(random.Normal()));
        const double power = random.Uniform(-1, 1) * largest;
        powers.push_back(
            static_cast<T>(random.Bernoulli(0.5) ? std::round(power) : power));
      }
      runs.push_back(
          {BytesOf(values), BytesOf(powers), BytesOf(std::vector<T>(lanes))});
    }
    ExpectAsInterpreted(spec, std::move(b).Finish(), runs);
  }
}

TEST(ScaleTest, EveryWidthRoundsOnce) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, HostSpec());
  TW_ASSERT_OK_AND_ASSIGN(const lowering::FunctionOptions options,
                          CpuFunctionOptions(spec));
  if (!options.scale) GTEST_SKIP() << "no such instruction on this host";
  ExpectEveryWidthScales<float>(spec, DType::kFloat32, 183);
  ExpectEveryWidthScales<double>(spec, DType::kFloat64, 1100);
}

// Tables in a register, indexed by any bits.
TEST(LookupTest, EveryWidthReadsByTheLowBits) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, HostSpec());
  TW_ASSERT_OK_AND_ASSIGN(const lowering::FunctionOptions options,
                          CpuFunctionOptions(spec));
  if (!options.lookup) GTEST_SKIP() << "no such instruction on this host";
  std::vector<float> table;
  for (int i = 0; i < kernel_ir::kLookupValues; ++i)
    table.push_back(100 + static_cast<float>(i));
  Random random(41);
  for (const int lanes : kLaneCounts) {
    kernel_ir::ScalarBuilder b("lookup");
    using kernel_ir::Role;
    const int x = b.AddArgument("x", DType::kFloat32, Role::kInput, lanes);
    const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, lanes);
    b.Store(y, kernel_ir::kNoReg, 0,
            b.Lookup(b.Load(x, kernel_ir::kNoReg, 0, lanes), table));
    std::vector<uint32_t> bits;
    for (int i = 0; i < lanes; ++i)
      bits.push_back(static_cast<uint32_t>(random.Next()));
    ExpectAsInterpreted(spec, std::move(b).Finish(),
                        {{BytesOf(bits), BytesOf(std::vector<float>(lanes))}});
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
