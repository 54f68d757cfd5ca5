// How busy a daemon was since it began, in a few hundred points however long
// that is: when there are too many, neighbours become one.
#ifndef TILEWRIGHT_TOOLS_DAEMON_MONITORING_ACTIVITY_H_
#define TILEWRIGHT_TOOLS_DAEMON_MONITORING_ACTIVITY_H_

#include <cstdint>
#include <vector>

namespace tilewright::daemon {

class Activity {
 public:
  struct Point {
    double results_a_second = 0;
    double busy_workers = 0;
    // Candidates that are measured at the same time, on all devices together
    // (DOPpler's degree of parallelism, summed over the workers).
    double parallel = 0;
  };

  // A sample is the mean of `interval_s` seconds. REQUIRES: most_points even.
  explicit Activity(double interval_s, int most_points = 240)
      : interval_s_(interval_s), most_points_(most_points) {}

  // The next interval's.
  void Add(const Point& sample);

  // Of interval_s() seconds each, the first from the beginning. The last one
  // may be of less.
  const std::vector<Point>& points() const { return points_; }
  double interval_s() const { return interval_s_ * samples_of_a_point_; }

 private:
  double interval_s_;
  int most_points_;
  std::vector<Point> points_;
  int samples_of_a_point_ = 1;
  int samples_of_last_ = 0;  // 0: there is no last one
};

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_MONITORING_ACTIVITY_H_
