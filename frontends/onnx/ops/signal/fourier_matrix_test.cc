// Roots of unity by what makes them exact, not by the library's cosine alone.
#include "frontends/onnx/ops/signal/fourier_matrix.h"

#include <cmath>

#include "gtest/gtest.h"

namespace tilewright {
namespace {

TEST(RootOfUnityTest, IsNearTheAngle) {
  for (const int64_t n : {1, 2, 3, 7, 8, 400, 1000, 4099}) {
    for (int64_t m = 0; m < n; ++m) {
      const double angle =
          2 * M_PI * static_cast<double>(m) / static_cast<double>(n);
      const UnitRoot root = RootOfUnity(m, n);
      EXPECT_NEAR(root.cos, std::cos(angle), 2e-15) << m << " of " << n;
      EXPECT_NEAR(root.sin, std::sin(angle), 2e-15) << m << " of " << n;
    }
  }
}

TEST(RootOfUnityTest, QuartersOfATurnAreWhole) {
  for (const int64_t n : {4, 12, 400, 1 << 20}) {
    const double expected[][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    for (int64_t quarter = 0; quarter < 4; ++quarter) {
      const UnitRoot root = RootOfUnity(quarter * n / 4, n);
      EXPECT_EQ(root.cos, expected[quarter][0]) << n;
      EXPECT_EQ(root.sin, expected[quarter][1]) << n;
    }
  }
}

TEST(RootOfUnityTest, ConjugatesAndOppositesHaveTheSameDigits) {
  for (const int64_t n : {2, 6, 10, 400, 1022}) {
    for (int64_t m = 1; m < n; ++m) {
      const UnitRoot root = RootOfUnity(m, n);
      const UnitRoot conjugate = RootOfUnity(n - m, n);
      EXPECT_EQ(conjugate.cos, root.cos) << m << " of " << n;
      EXPECT_EQ(conjugate.sin, -root.sin) << m << " of " << n;
      const UnitRoot opposite = RootOfUnity((m + n / 2) % n, n);
      EXPECT_EQ(opposite.cos, -root.cos) << m << " of " << n;
      EXPECT_EQ(opposite.sin, -root.sin) << m << " of " << n;
      if (n % 4 != 0) continue;
      const UnitRoot turned = RootOfUnity((m + n / 4) % n, n);
      EXPECT_EQ(turned.cos, -root.sin) << m << " of " << n;
      EXPECT_EQ(turned.sin, root.cos) << m << " of " << n;
    }
  }
}

// A turn that the sizes of the operands leave whole.
TEST(RootOfUnityTest, LargeTurnsDoNotOverflow) {
  const UnitRoot root = RootOfUnity(kLongestSignal - 1, kLongestSignal);
  const double angle = 2 * M_PI / static_cast<double>(kLongestSignal);
  EXPECT_NEAR(root.cos, std::cos(angle), 1e-15);
  EXPECT_NEAR(root.sin, -std::sin(angle), 1e-20);
}

}  // namespace
}  // namespace tilewright
