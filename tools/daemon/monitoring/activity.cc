#include "tools/daemon/monitoring/activity.h"

#include <cstddef>

namespace tilewright::daemon {
namespace {

// The mean of both, of which `a` counts so many times.
Activity::Point Mean(const Activity::Point& a, double times,
                     const Activity::Point& b) {
  const auto mean = [&](double x, double y) {
    return (x * times + y) / (times + 1);
  };
  return {mean(a.results_a_second, b.results_a_second),
          mean(a.busy_workers, b.busy_workers), mean(a.parallel, b.parallel)};
}

}  // namespace

void Activity::Add(const Point& sample) {
  const bool full = samples_of_last_ == samples_of_a_point_;
  if (full && points_.size() == static_cast<size_t>(most_points_)) {
    for (size_t i = 0; i < points_.size() / 2; ++i)
      points_[i] = Mean(points_[2 * i], 1, points_[2 * i + 1]);
    points_.resize(points_.size() / 2);
    samples_of_a_point_ *= 2;
    samples_of_last_ = samples_of_a_point_;
  }
  if (points_.empty() || samples_of_last_ == samples_of_a_point_) {
    points_.push_back(sample);
    samples_of_last_ = 1;
    return;
  }
  points_.back() = Mean(points_.back(), samples_of_last_, sample);
  ++samples_of_last_;
}

}  // namespace tilewright::daemon
