// Regression problems that sklearn_errors.py makes too, number by number:
// neither uses more than a linear congruential generator.
//
//   friedman1   10 uniform features, 5 of which matter (Friedman 1991), noise 1
//   linear      20 features, some of which nearly repeat others
//   schedules   164 features of few values, as of tiled loops: most of them
//               constant, products and clipped sums of the others
#ifndef TILEWRIGHT_COSTMODEL_TESTING_SYNTHETIC_DATA_H_
#define TILEWRIGHT_COSTMODEL_TESTING_SYNTHETIC_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/feature_matrix.h"

namespace tilewright::costmodel {

struct SyntheticData {
  FeatureMatrix features;
  std::vector<double> targets;
};

// REQUIRES: `name` stands above.
SyntheticData MakeSyntheticData(const std::string& name, uint32_t seed,
                                int rows);

}  // namespace tilewright::costmodel

#endif  // TILEWRIGHT_COSTMODEL_TESTING_SYNTHETIC_DATA_H_
