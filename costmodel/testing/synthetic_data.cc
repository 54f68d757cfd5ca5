#include "costmodel/testing/synthetic_data.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"

namespace tilewright::costmodel {
namespace {

// Knuth's MMIX generator; its upper 24 bits are a float exactly.
class Congruential {
 public:
  explicit Congruential(uint32_t seed) : state_(seed) { Uniform(); }
  double Uniform() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 40) / (1 << 24);
  }
  // Nearly normal, mean 0, standard deviation 1.
  double Noise() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += Uniform();
    return sum;
  }

 private:
  uint64_t state_;
};

double Friedman1(Congruential& random, std::vector<float>& row) {
  for (float& x : row) x = static_cast<float>(random.Uniform());
  return 10 * std::sin(M_PI * row[0] * row[1]) +
         20 * (row[2] - 0.5) * (row[2] - 0.5) + 10 * row[3] + 5 * row[4] +
         random.Noise();
}

double Linear(Congruential& random, std::vector<float>& row) {
  double target = 0;
  for (int i = 0; i < 10; ++i) {
    row[i] = static_cast<float>(random.Uniform());
    row[10 + i] = static_cast<float>(row[i] + 0.1 * random.Uniform());
    target += (i + 1) * row[i];
  }
  return target + random.Noise();
}

double Schedules(Congruential& random, std::vector<float>& row) {
  std::fill(row.begin(), row.end(), 0.0F);
  for (int i = 0; i < 8; ++i) row[i] = std::floor(random.Uniform() * 8);
  for (int i = 8; i < 64; ++i) row[i] = row[i % 8] + row[(i / 8 + i) % 8];
  for (int i = 64; i < 72; ++i) row[i] = row[i - 64] > 3 ? 1.0F : 0.0F;
  const double cache = std::max(0.0, row[0] + row[1] + row[2] - 11.0);
  const double registers = std::fabs(row[3] + row[4] - 6.0);
  return 0.3 * cache * cache + registers + 0.25 * row[5] * row[6] +
         0.2 * random.Noise();
}

}  // namespace

SyntheticData MakeSyntheticData(const std::string& name, uint32_t seed,
                                int rows) {
  double (*make)(Congruential&, std::vector<float>&) = nullptr;
  int columns = 0;
  if (name == "friedman1") {
    make = Friedman1, columns = 10;
  } else if (name == "linear") {
    make = Linear, columns = 20;
  } else if (name == "schedules") {
    make = Schedules, columns = 164;
  }
  TW_CHECK(make != nullptr) << "no data named " << name;
  Congruential random(seed);
  SyntheticData data{FeatureMatrix(columns), {}};
  std::vector<float> row(columns);
  for (int i = 0; i < rows; ++i) {
    data.targets.push_back(make(random, row));
    data.features.AddRow(row);
  }
  return data;
}

}  // namespace tilewright::costmodel
