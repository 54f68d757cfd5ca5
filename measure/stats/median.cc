#include "measure/stats/median.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"

namespace tilewright::measure {

double Median(std::vector<double> values) {
  TW_CHECK(!values.empty());
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  const double below = *std::max_element(values.begin(), middle);
  return below + (*middle - below) / 2;
}

}  // namespace tilewright::measure
