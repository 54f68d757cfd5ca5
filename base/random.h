#ifndef TILEWRIGHT_BASE_RANDOM_H_
#define TILEWRIGHT_BASE_RANDOM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/types/span.h"

namespace tilewright {

// A small generator with an explicit seed, handed to whoever draws. Equal seeds
// give equal numbers on every platform and in every version, also for doubles
// and normals: no std:: distribution and no libm function is used.
//
// xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number
// generators", 2021), its state filled by splitmix64. Not for secrets. Not
// thread-safe: give each thread its own, seeded with Next().
class Random {
 public:
  explicit Random(uint64_t seed);

  // 64 random bits.
  uint64_t Next();

  // Uniform in [low, high], both ends included; low <= high.
  int64_t UniformInt(int64_t low, int64_t high);
  // Uniform in [0, size); size > 0.
  size_t Index(size_t size);
  // Uniform in [0, 1), a multiple of 2^-53; and in [low, high).
  double Uniform();
  double Uniform(double low, double high);
  // True with the given probability.
  bool Bernoulli(double probability);
  // Mean 0, standard deviation 1.
  double Normal();

  // A uniformly drawn order (Fisher-Yates).
  template <typename T>
  void Shuffle(absl::Span<T> values) {
    for (size_t i = values.size(); i > 1; --i) {
      using std::swap;
      swap(values[i - 1], values[Index(i)]);
    }
  }

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_BASE_RANDOM_H_
