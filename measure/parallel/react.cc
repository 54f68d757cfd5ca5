#include "measure/parallel/react.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace tilewright::measure {
namespace {

// floor(x), safe from the rounding of 1 - beta: 10 * (1 - 0.2) is 8.
int Floor(double x) { return static_cast<int>(std::floor(x + 1e-9)); }

}  // namespace

ReactOptions ReactOptions::AsPublished() {
  ReactOptions options;
  options.initial_max = 128;
  options.gamma_max = 7;
  return options;
}

React::React(const ReactOptions& options)
    : options_(options),
      degree_(options.initial_degree),
      adaptive_max_(options.initial_max) {
  TW_CHECK_GE(options.initial_degree, 1);
  TW_CHECK_LE(options.initial_degree, options.max_degree);
  TW_CHECK_GE(options.initial_max, 1);
  TW_CHECK_GE(options.gamma_min, 1);
}

void React::Update(double mean_delta, int failures) {
  const bool accurate = mean_delta <= options_.tau;
  if (!accurate || failures > options_.tau * degree_) {
    // NaN is not larger.
    Decrease(options_.decrease_by_delta && mean_delta > options_.beta
                 ? std::min(mean_delta, 1.0)
                 : options_.beta);
    if (raised_) {
      backoff_length_ =
          backoff_length_ == 0 ? options_.backoff_rounds : 2 * backoff_length_;
    }
    rounds_to_wait_ = backoff_length_;
    raised_ = false;
    if (options_.increase_after_decrease) Increase();
  } else if (rounds_to_wait_ > 0) {
    --rounds_to_wait_;
  } else {
    if (raised_) backoff_length_ = 0;
    const int before = degree_;
    Increase();
    raised_ = degree_ > before;
  }
}

void React::Decrease(double beta) {
  adaptive_max_ = degree_ < adaptive_max_
                      ? std::max(1, Floor(degree_ * (2 - beta) / 2))
                      : degree_;
  degree_ = std::max(1, Floor(degree_ * (1 - beta)));
}

void React::Increase() {
  const double gamma = degree_ < adaptive_max_ ? (adaptive_max_ - degree_) / 2.0
                                               : degree_ - adaptive_max_;
  const double bounded = std::max<double>(
      std::min<double>(gamma, options_.gamma_max), options_.gamma_min);
  degree_ = std::min(options_.max_degree, Floor(degree_ + bounded));
}

}  // namespace tilewright::measure
