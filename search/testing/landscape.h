// Made-up tasks whose best schedule is known: a generator of traces that are
// nothing but numbers, and how long each takes.
#ifndef TILEWRIGHT_SEARCH_TESTING_LANDSCAPE_H_
#define TILEWRIGHT_SEARCH_TESTING_LANDSCAPE_H_

#include <functional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "measure/parallel/measurer.h"
#include "measure/record/record.pb.h"
#include "search/candidate.h"
#include "search/space.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/schedule.pb.h"

namespace tilewright::search {

// "made-up": decides `v0`, `v1`, ..., each of 0 .. most[i], and prefers the
// values of `preferred`, or 0.
sketch::Generator NumbersGenerator(std::vector<int> most,
                                   std::vector<int> preferred = {});
// The numbers that were decided.
std::vector<int> NumbersOf(const sketch::Schedule& schedule);
// log2(x + 1) of them.
Features NumberFeatures();

// How long one takes, ns.
using Landscape = std::function<double(const std::vector<int>&)>;

// 100 at `best`, and 12 % longer for every step away along any axis.
Landscape Cone(std::vector<int> best);
// Like a cone around `best`, but every other value along an axis is 30 % slower
// still, and around `trap` there is a second cone that is 20 % slower.
Landscape Rugged(std::vector<int> best, std::vector<int> trap);

// A space of such numbers without anything to replay.
TaskSpace NumberSpace(std::vector<int> most, std::vector<int> preferred = {},
                      SpaceOptions options = {});

// Measures such traces, in order: verified, warm, one thread.
class LandscapeMeasurer : public measure::Measurer {
 public:
  explicit LandscapeMeasurer(Landscape landscape)
      : landscape_(std::move(landscape)) {}

  // May change what is measured of these numbers; null: nothing does.
  std::function<void(const std::vector<int>&, measure::Measurement&)> change;
  // Once so many were measured, everything is an error; below 0: never.
  int breaks_after = -1;
  // In the order in which they were measured.
  std::vector<std::vector<int>> measured;

 protected:
  absl::StatusOr<std::vector<measure::Measurement>> DoMeasure(
      const measure::MeasureBatch& batch) override;

 private:
  const Landscape landscape_;
};

}  // namespace tilewright::search

#endif  // TILEWRIGHT_SEARCH_TESTING_LANDSCAPE_H_
