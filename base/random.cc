#include "base/random.h"

#include <cmath>

#include "base/check.h"

namespace tilewright {
namespace {

uint64_t RotateLeft(uint64_t value, int bits) {
  return value << bits | value >> (64 - bits);
}

// splitmix64 (Steele, Lea, Flood, 2014).
uint64_t SplitMix(uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  uint64_t z = state;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

// The natural logarithm of a normal, positive x, within a few ULPs, from
// exactly rounded operations alone, so that it is the same everywhere: x = m
// 2^e with m in [1/sqrt(2), sqrt(2)), log m = 2 atanh((m - 1) / (m + 1)).
double PortableLog(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // [1/2, 1), exact
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1);  // |s| < 0.1716
  const double s2 = s * s;
  double series = 0;
  for (int k = 23; k >= 1; k -= 2) series = series * s2 + 1.0 / k;
  return 2 * s * series + exponent * 0.69314718055994531;
}

}  // namespace

Random::Random(uint64_t seed) {
  for (uint64_t& word : state_) word = SplitMix(seed);
}

uint64_t Random::Next() {
  const uint64_t result = RotateLeft(state_[0] + state_[3], 23) + state_[0];
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = RotateLeft(state_[3], 45);
  return result;
}

int64_t Random::UniformInt(int64_t low, int64_t high) {
  TW_CHECK_LE(low, high);
  const uint64_t last =
      static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  if (last == UINT64_MAX) return static_cast<int64_t>(Next());
  const uint64_t count = last + 1;
  // Reject the 2^64 mod count lowest draws: the rest divides evenly.
  const uint64_t reject_below = (0 - count) % count;
  uint64_t draw = Next();
  while (draw < reject_below) draw = Next();
  return static_cast<int64_t>(static_cast<uint64_t>(low) + draw % count);
}

size_t Random::Index(size_t size) {
  TW_CHECK_GT(size, 0);
  return static_cast<size_t>(UniformInt(0, static_cast<int64_t>(size) - 1));
}

double Random::Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

double Random::Uniform(double low, double high) {
  return low + (high - low) * Uniform();
}

bool Random::Bernoulli(double probability) { return Uniform() < probability; }

double Random::Normal() {
  // Marsaglia's polar method; the second number of the pair is dropped, so that
  // the generator has no hidden state.
  while (true) {
    const double u = Uniform(-1, 1);
    const double v = Uniform(-1, 1);
    const double s = u * u + v * v;
    if (s >= 1 || s == 0) continue;
    return u * std::sqrt(-2 * PortableLog(s) / s);
  }
}

}  // namespace tilewright
