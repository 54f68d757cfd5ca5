#include "bench/fuzz/odd_values.h"

#include <cmath>
#include <limits>

namespace tilewright::bench {
namespace {

constexpr int64_t kIntegers[] = {0,
                                 1,
                                 2,
                                 3,
                                 5,
                                 -1,
                                 -2,
                                 -3,
                                 17,
                                 255,
                                 1000,
                                 65536,
                                 int64_t{1} << 20,
                                 INT32_MAX,
                                 int64_t{INT32_MAX} + 1,
                                 INT32_MIN,
                                 int64_t{1} << 33,
                                 int64_t{1} << 40,
                                 int64_t{1} << 62,
                                 INT64_MAX,
                                 INT64_MIN};

}  // namespace

int64_t OddInteger(Random& random, int64_t before) {
  for (;;) {
    int64_t value = 0;
    switch (random.UniformInt(0, 3)) {
      case 0:
        value = random.UniformInt(-3, 6);
        break;
      case 1:
        // Near it, without overflow.
        value = static_cast<int64_t>(
            static_cast<uint64_t>(before) +
            static_cast<uint64_t>(random.UniformInt(-2, 2)));
        break;
      default:
        value = kIntegers[random.Index(sizeof(kIntegers) / sizeof(int64_t))];
    }
    if (value != before) return value;
  }
}

double OddFloat(Random& random, double before) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kFloats[] = {0,     -0.0,   1,         -1,         0.5,
                                2,     1e-30,  1e30,      3.4e38,     1e-45,
                                -1e30, -1e-30, kInfinity, -kInfinity, NAN};
  if (random.Bernoulli(0.3)) return before * random.Uniform(-2, 2);
  return kFloats[random.Index(sizeof(kFloats) / sizeof(double))];
}

}  // namespace tilewright::bench
