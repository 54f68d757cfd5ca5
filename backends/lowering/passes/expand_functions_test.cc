#include "backends/lowering/passes/expand_functions.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/lowering/testing/function_oracle.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::lowering {
namespace {

using kernel_ir::Reg;
using kernel_ir::ScalarBuilder;
using kernel_ir::ScalarKernel;

constexpr int kLanes = 8;

template <typename T>
DType DTypeOf() {
  return sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64;
}

// z[i] = op(x[i], y[i]) for i < n in vectors of `lanes`; unary functions ignore
// y.
ScalarKernel MapKernel(Op op, DType dtype, int64_t n, int lanes) {
  ScalarBuilder b("map");
  const int x = b.AddArgument("x", dtype, kernel_ir::Role::kInput, n);
  const int y = b.AddArgument("y", dtype, kernel_ir::Role::kInput, n);
  const int z = b.AddArgument("z", dtype, kernel_ir::Role::kOutput, n);
  const Reg i = b.BeginFor(0, n, lanes);
  const Reg v = b.Load(x, i, 0, lanes);
  b.Store(z, i, 0,
          op == Op::kPow ? b.Emit(op, {v, b.Load(y, i, 0, lanes)})
                         : b.Emit(op, {v}));
  b.EndFor();
  return std::move(b).Finish();
}

template <typename T>
std::vector<T> Interpret(const ScalarKernel& kernel, const std::vector<T>& x,
                         const std::vector<T>& y) {
  const auto bytes = [](const std::vector<T>& v) {
    return std::string(reinterpret_cast<const char*>(v.data()),
                       v.size() * sizeof(T));
  };
  std::vector<std::string> args = {bytes(x), bytes(y),
                                   std::string(x.size() * sizeof(T), '\0')};
  TW_EXPECT_OK(
      kernel_ir::InterpretScalarKernel(kernel, absl::MakeSpan(args), 0, 1));
  std::vector<T> z(x.size());
  std::memcpy(z.data(), args[2].data(), args[2].size());
  return z;
}

template <typename T>
T AnyBits(Random& random) {
  const uint64_t bits = random.Next();
  T value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

template <typename T>
struct Arguments {
  std::vector<T> x, y;
};

// All special values, then values of any bits and values of everyday size, a
// multiple of kLanes in all. For pow: pairs.
template <typename T>
Arguments<T> MakeArguments(Op op, int count) {
  Arguments<T> args;
  Random random(17);
  std::vector<T> special = SpecialArguments<T>();
  if (op == Op::kPow) {
    special.clear();
    for (T value : SpecialArguments<T>()) {
      if (random.Index(4) == 0 || !(std::fabs(value) > 0) ||
          !(std::fabs(value) < 8))
        special.push_back(value);
    }
    if (special.size() > 256) special.resize(256);
    const T infinity = std::numeric_limits<T>::infinity();
    for (T value : {T{0}, T{1}, T{2}, T{3}, T{0.5}, infinity,
                    std::numeric_limits<T>::quiet_NaN()})
      special.insert(special.end(), {value, -value});
    for (T a : special) {
      for (T b : special) {
        args.x.push_back(a);
        args.y.push_back(b);
      }
    }
  } else {
    args.x = special;
    args.y = special;
  }
  while (static_cast<int>(args.x.size()) < count ||
         args.x.size() % kLanes != 0) {
    const bool any = random.Bernoulli(0.5);
    const T scale = std::ldexp(T{1}, static_cast<int>(random.Index(9)));
    args.x.push_back(any ? AnyBits<T>(random)
                         : static_cast<T>(random.Uniform(-1, 1)) * scale);
    args.y.push_back(any ? AnyBits<T>(random)
                         : static_cast<T>(random.Uniform(-1, 1)) * 20);
    if (op == Op::kPow && !any && random.Bernoulli(0.5))
      args.y.back() = std::round(args.y.back());
  }
  return args;
}

template <typename T>
void ExpectWithinBound(Op op, FunctionOptions options, int count) {
  using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;
  const Arguments<T> args = MakeArguments<T>(op, count);
  ScalarKernel kernel =
      MapKernel(op, DTypeOf<T>(), static_cast<int64_t>(args.x.size()), kLanes);
  ExpandFunctions(kernel, options);
  TW_ASSERT_OK(VerifyScalarKernel(kernel));
  const std::vector<T> z = Interpret<T>(kernel, args.x, args.y);
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < z.size(); ++i) {
    const double error =
        UlpError(z[i], FunctionReference(op, Wide{args.x[i]}, Wide{args.y[i]}));
    if (error > worst) {
      worst = error;
      at = i;
    }
  }
  EXPECT_LE(worst, UlpBound(op))
      << Name(op) << (options.fma ? "" : " without fma") << " of "
      << Name(DTypeOf<T>()) << " at x = " << args.x[at]
      << ", y = " << args.y[at] << ": " << z[at] << ", not "
      << FunctionReference(op, Wide{args.x[at]}, Wide{args.y[at]});
  ::testing::Test::RecordProperty(std::string(Name(op)) +
                                      (sizeof(T) == 4 ? "_f32" : "_f64") +
                                      (options.fma ? "_fma" : ""),
                                  std::to_string(worst));
}

TEST(ExpandFunctionsTest, SinglePrecisionIsWithinTheBoundsOfTheNumericsPage) {
  for (Op op : kFunctions) ExpectWithinBound<float>(op, {true, false}, 100000);
}

TEST(ExpandFunctionsTest, TablesAreWithinTheSameBounds) {
  for (const bool scale : {false, true}) {
    for (const bool fma : {false, true}) {
      const FunctionOptions options = {fma, scale, /*lookup=*/true};
      for (Op op : kFunctions) ExpectWithinBound<float>(op, options, 100000);
      ExpectWithinBound<double>(Op::kErf, options, 20000);
      ExpectWithinBound<double>(Op::kExp, options, 20000);
    }
  }
}

// The largest element of a softmax counts as one.
TEST(ExpandFunctionsTest, ExpOfZeroIsOne) {
  const std::vector<float> x = {0.0f, -0.0f, 0x1p-26f, -0x1p-26f};
  for (const bool by_cells : {false, true}) {
    ScalarKernel kernel = MapKernel(Op::kExp, DType::kFloat32, 4, 4);
    ExpandFunctions(kernel, {/*fma=*/true, by_cells, by_cells});
    EXPECT_EQ(Interpret<float>(kernel, x, x), std::vector<float>(4, 1));
  }
}

TEST(ExpandFunctionsTest, SinglePrecisionWithoutFmaIsWithinTheSameBounds) {
  for (Op op : kFunctions) ExpectWithinBound<float>(op, {false, false}, 100000);
}

TEST(ExpandFunctionsTest, DoublePrecisionIsWithinTheSameBounds) {
  for (Op op : kFunctions) ExpectWithinBound<double>(op, {true, false}, 100000);
}

TEST(ExpandFunctionsTest, DoublePrecisionWithoutFmaIsWithinTheSameBounds) {
  for (Op op : kFunctions) ExpectWithinBound<double>(op, {false, false}, 50000);
}

// A power of two in one instruction or in several: the same bits.
template <typename T>
void ExpectSameScaled(Op op) {
  const Arguments<T> args = MakeArguments<T>(op, 20000);
  std::vector<std::vector<T>> results;
  for (const bool scale : {false, true}) {
    ScalarKernel kernel = MapKernel(
        op, DTypeOf<T>(), static_cast<int64_t>(args.x.size()), kLanes);
    ExpandFunctions(kernel, {true, scale});
    TW_ASSERT_OK(VerifyScalarKernel(kernel));
    results.push_back(Interpret<T>(kernel, args.x, args.y));
  }
  for (size_t i = 0; i < args.x.size(); ++i) {
    if (std::isnan(results[0][i]) && std::isnan(results[1][i])) continue;
    EXPECT_EQ(std::memcmp(&results[0][i], &results[1][i], sizeof(T)), 0)
        << Name(op) << " at " << args.x[i] << ": " << results[0][i] << ", "
        << results[1][i];
  }
}

TEST(ExpandFunctionsTest, PowersOfTwoInOneInstructionGiveTheSameBits) {
  for (Op op : {Op::kExp, Op::kTanh, Op::kErf, Op::kSigmoid}) {
    ExpectSameScaled<float>(op);
    ExpectSameScaled<double>(op);
  }
}

// 6381956970095103 * 2^797 is the double nearest to a multiple of pi / 2.
TEST(ExpandFunctionsTest, TheHardestDoublesAreReducedExactly) {
  const std::vector<double> x = {6381956970095103 * 0x1p797,
                                 -6381956970095103 * 0x1p797, 0x1.8p1023,
                                 0x1.921fb54442d18p20};
  for (Op op : {Op::kSin, Op::kCos}) {
    for (bool fma : {true, false}) {
      ScalarKernel kernel = MapKernel(op, DType::kFloat64, 4, 4);
      ExpandFunctions(kernel, {fma});
      const std::vector<double> z = Interpret<double>(kernel, x, x);
      for (size_t i = 0; i < x.size(); ++i) {
        EXPECT_LE(UlpError(z[i], FunctionReference(
                                     op, static_cast<long double>(x[i]))),
                  2)
            << Name(op) << " of " << x[i];
      }
    }
  }
}

// A slow path taken for one lane leaves the other lanes as they are without it.
TEST(ExpandFunctionsTest, LanesDoNotDependOnEachOther) {
  std::vector<float> x = {0.5f, -3, 100, 6000, -0.0f, 1e-40f, 20000, 7};
  ScalarKernel kernel = MapKernel(Op::kSin, DType::kFloat32, 8, 8);
  ExpandFunctions(kernel);
  const std::vector<float> before = Interpret<float>(kernel, x, x);
  x[2] = 1e30f;
  std::vector<float> after = Interpret<float>(kernel, x, x);
  EXPECT_NE(after[2], before[2]);
  after[2] = before[2];
  EXPECT_EQ(std::memcmp(after.data(), before.data(), 32), 0);
}

TEST(ExpandFunctionsTest, ScalarsGiveTheBitsOfVectors) {
  for (Op op : kFunctions) {
    const Arguments<float> args = MakeArguments<float>(op, 1000);
    const int64_t n = static_cast<int64_t>(args.x.size());
    ScalarKernel vector = MapKernel(op, DType::kFloat32, n, kLanes);
    ScalarKernel scalar = MapKernel(op, DType::kFloat32, n, 1);
    ExpandFunctions(vector);
    ExpandFunctions(scalar);
    const std::vector<float> a = Interpret<float>(vector, args.x, args.y);
    const std::vector<float> b = Interpret<float>(scalar, args.x, args.y);
    for (int64_t i = 0; i < n; ++i) {
      if (std::isnan(a[i]) && std::isnan(b[i])) continue;
      EXPECT_EQ(std::memcmp(&a[i], &b[i], 4), 0)
          << Name(op) << " of " << args.x[i] << ": " << a[i] << ", " << b[i];
    }
  }
}

// v = exp(v) inside a loop and a branch: the destination is a variable and the
// operand.
TEST(ExpandFunctionsTest, VariablesAndNestedScopesAreRewritten) {
  ScalarBuilder b("k");
  const int out =
      b.AddArgument("out", DType::kFloat32, kernel_ir::Role::kOutput, 1);
  const Reg v = b.Variable(DType::kFloat32, 1);
  b.Assign(v, b.Float(0));
  const Reg i = b.BeginFor(0, 3);
  b.BeginIf(b.Emit(Op::kLt, {i, b.Int(2)}));
  b.AssignOp(v, Op::kExp, {v});
  b.BeginElse();
  b.AssignOp(v, Op::kLog, {v});
  b.EndIf();
  b.EndFor();
  b.Store(out, kernel_ir::kNoReg, 0, v);
  ScalarKernel kernel = std::move(b).Finish();
  ExpandFunctions(kernel);
  TW_ASSERT_OK(VerifyScalarKernel(kernel));
  EXPECT_EQ(kernel.ToString().find("exp "), std::string::npos);
  EXPECT_EQ(kernel.ToString().find("log "), std::string::npos);
  std::vector<std::string> args = {std::string(4, '\0')};
  TW_ASSERT_OK(
      kernel_ir::InterpretScalarKernel(kernel, absl::MakeSpan(args), 0, 1));
  float value;
  std::memcpy(&value, args[0].data(), 4);
  EXPECT_NEAR(value, 1.0f, 1e-6f);
}

TEST(ExpandFunctionsTest, IntegerPowStays) {
  ScalarBuilder b("k");
  const int out =
      b.AddArgument("out", DType::kInt64, kernel_ir::Role::kOutput, 1);
  b.Store(out, kernel_ir::kNoReg, 0, b.Emit(Op::kPow, {b.Int(3), b.Int(4)}));
  ScalarKernel kernel = std::move(b).Finish();
  const std::string before = kernel.ToString();
  ExpandFunctions(kernel);
  EXPECT_EQ(kernel.ToString(), before);
}

}  // namespace
}  // namespace tilewright::lowering
