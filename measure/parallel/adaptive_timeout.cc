#include "measure/parallel/adaptive_timeout.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace tilewright::measure {

int AdaptiveTimeoutSeconds(int degree, int devices,
                           const AdaptiveTimeoutOptions& options) {
  TW_CHECK_GT(degree, 0);
  TW_CHECK_GT(devices, 0);
  if (options.curve == AdaptiveTimeoutOptions::Curve::kPublished) {
    const double count = static_cast<double>((devices + 1) / 2) * degree;
    return static_cast<int>(
               std::floor(9.1 * std::tanh((count - 20.25) * 0.06) + 10.9)) +
           1;
  }
  const double rising = 2.0 * options.longest_s *
                        std::tanh(options.slope * degree * devices / 2.0);
  return static_cast<int>(std::floor(std::max<double>(
      options.shortest_s, std::min<double>(options.longest_s, rising))));
}

}  // namespace tilewright::measure
