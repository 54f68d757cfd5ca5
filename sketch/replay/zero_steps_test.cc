#include "sketch/replay/zero_steps.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/index_eval.h"

namespace tilewright::sketch {
namespace {

// o * stride + k * dilation + shift, o and k being variables 0 and 1.
struct Window {
  int64_t outputs, taps, stride, dilation, shift, extent;
  KnownZeros zeros;

  int64_t At(int64_t o, int64_t k) const {
    return o * stride + k * dilation + shift;
  }
  Expr Load() const {
    const Expr index = Expr::Var(0, "o") * Expr::Int(stride) +
                       Expr::Var(1, "k") * Expr::Int(dilation) +
                       Expr::Int(shift);
    return Expr::Load(0, DType::kFloat32, {index});
  }
  RangeOf Ranges() const {
    return [o = outputs, k = taps](int var) -> std::optional<Range> {
      if (var > 1) return std::nullopt;
      return Range{0, (var == 0 ? o : k) - 1};
    };
  }
};

Window Draw(uint64_t seed) {
  Random random(seed);
  Window w;
  w.outputs = random.UniformInt(1, 9);
  w.taps = random.UniformInt(1, 7);
  w.stride = random.UniformInt(-2, 3);
  w.dilation = random.UniformInt(-1, 2);
  w.shift = random.UniformInt(0, 3);
  if (w.stride < 0) w.shift += -w.stride * (w.outputs - 1);
  if (w.dilation < 0) w.shift += -w.dilation * (w.taps - 1);
  const int64_t most = w.shift +
                       (w.stride > 0 ? w.stride * (w.outputs - 1) : 0) +
                       (w.dilation > 0 ? w.dilation * (w.taps - 1) : 0);
  w.extent = most + 1 + random.UniformInt(0, 3);
  const int64_t before = random.UniformInt(0, w.extent);
  w.zeros = {{before}, {random.UniformInt(0, w.extent - before)}};
  return w;
}

TEST(ZeroStepsTest, ConditionAndShareAreThoseOfAllSteps) {
  int some = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const Window w = Draw(seed);
    const Expr condition =
        ReadsNoZero(w.Load(), w.zeros, 0, {w.extent}, w.Ranges());
    int64_t zeros = 0;
    for (int64_t o = 0; o < w.outputs; ++o) {
      for (int64_t k = 0; k < w.taps; ++k) {
        const int64_t at = w.At(o, k);
        const bool zero =
            at < w.zeros.before[0] || at >= w.extent - w.zeros.after[0];
        zeros += zero ? 1 : 0;
        const bool reads = !condition || EvalIndex(condition, [&](int var) {
                                           return var == 0 ? o : k;
                                         }) != 0;
        ASSERT_EQ(reads, !zero)
            << "seed " << seed << ", o " << o << ", k " << k;
      }
    }
    const double share =
        static_cast<double>(zeros) / static_cast<double>(w.outputs * w.taps);
    ASSERT_DOUBLE_EQ(ShareOfZeros(w.Load(), w.zeros, 0, {w.extent}, w.Ranges()),
                     share)
        << "seed " << seed;
    if (zeros == 0) {
      EXPECT_FALSE(condition) << "seed " << seed;
    }
    some += zeros > 0 && zeros < w.outputs * w.taps ? 1 : 0;
  }
  EXPECT_GT(some, 1000);
}

TEST(ZeroStepsTest, OnlyProductsVanish) {
  const Expr x = Expr::Load(0, DType::kFloat32, {Expr::Var(0, "i")});
  const Expr y = Expr::Load(1, DType::kFloat32, {Expr::Var(0, "i")});
  const Expr one = Expr::Float(1);
  const auto make = [](Op op, Expr a, Expr b) {
    return Expr::Make(op, {std::move(a), std::move(b)});
  };
  EXPECT_TRUE(VanishesWith(x, x));
  EXPECT_TRUE(VanishesWith(make(Op::kMul, y, x), x));
  EXPECT_TRUE(VanishesWith(
      make(Op::kMul, make(Op::kAdd, y, one), make(Op::kMul, x, y)), x));
  EXPECT_TRUE(VanishesWith(Expr::Cast(DType::kFloat64, x), x));
  EXPECT_FALSE(VanishesWith(y, x));
  // Bytes with a zero point.
  EXPECT_FALSE(VanishesWith(make(Op::kMul, make(Op::kSub, x, one), y), x));
  EXPECT_FALSE(VanishesWith(make(Op::kDiv, x, y), x));
}

}  // namespace
}  // namespace tilewright::sketch
