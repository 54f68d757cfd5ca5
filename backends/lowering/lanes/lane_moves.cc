#include "backends/lowering/lanes/lane_moves.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "backends/lowering/lanes/lane_network.h"
#include "backends/lowering/lanes/lane_steps.h"
#include "base/check.h"

namespace tilewright::lowering {
namespace {

// Each wanted vector by itself, out of one source after the other.
class Picks {
 public:
  Picks(int given, int given_lanes, const WantedLanes& wanted)
      : lanes_(given_lanes), wanted_(wanted), steps_(given) {
    for (int i = 0; i < given; ++i) values_.push_back(i);
  }

  LaneMoves Plan() {
    // More than two narrow vectors for one wanted are joined first.
    while (lanes_ < static_cast<int>(wanted_[0].size()) &&
           std::any_of(wanted_.begin(), wanted_.end(), [](const auto& vector) {
             return SourcesOf(vector).size() > 2;
           }))
      JoinNeighbours();
    std::vector<int> results;
    for (const std::vector<LanePlace>& vector : wanted_)
      results.push_back(Pick(vector));
    return steps_.Finish(results);
  }

 private:
  static std::vector<int> SourcesOf(const std::vector<LanePlace>& vector) {
    std::vector<int> sources;
    for (const LanePlace& place : vector) {
      if (place.vector >= 0) sources.push_back(place.vector);
    }
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    return sources;
  }

  void JoinNeighbours() {
    std::vector<int> joined, lanes(size_t{2} * lanes_);
    for (size_t i = 0; i < lanes.size(); ++i) lanes[i] = static_cast<int>(i);
    for (size_t i = 0; i < values_.size(); i += 2) {
      const size_t next = std::min(i + 1, values_.size() - 1);
      joined.push_back(steps_.Add(values_[i], values_[next], lanes));
    }
    for (std::vector<LanePlace>& vector : wanted_) {
      for (LanePlace& place : vector) {
        if (place.vector < 0) continue;
        place.lane += place.vector % 2 * lanes_;
        place.vector /= 2;
      }
    }
    values_ = std::move(joined);
    lanes_ *= 2;
  }

  int Pick(const std::vector<LanePlace>& vector) {
    std::vector<int> sources = SourcesOf(vector);
    if (sources.empty()) sources.push_back(0);
    const int width = static_cast<int>(vector.size());
    int value = values_[sources[0]];
    bool in_place = width == lanes_ && sources.size() == 1;
    for (int i = 0; i < width && in_place; ++i)
      in_place = vector[i].vector < 0 || vector[i].lane == i;
    if (in_place) return value;
    // Where the lanes found so far stand: first in their source, then in order.
    bool first = true;
    for (size_t next = 1; first || next < sources.size(); ++next) {
      const bool last = next + 1 >= sources.size();
      const int other = next < sources.size() ? sources[next] : sources[0];
      std::vector<int> lanes;
      for (int i = 0; i < (last ? width : lanes_); ++i) {
        const LanePlace place = i < width ? vector[i] : LanePlace{};
        const bool found = place.vector >= 0 &&
                           std::find(sources.begin(), sources.begin() + next,
                                     place.vector) != sources.begin() + next;
        lanes.push_back(place.vector == other && !found ? lanes_ + place.lane
                        : !found                        ? i % lanes_
                        : first                         ? place.lane
                                                        : i);
      }
      value = steps_.Add(value, values_[other], std::move(lanes));
      first = false;
    }
    return value;
  }

  int lanes_;
  WantedLanes wanted_;
  std::vector<int> values_;
  LaneSteps steps_;
};

}  // namespace

LaneMoves PlanLaneMoves(int given, int given_lanes, int64_t element_bytes,
                        const WantedLanes& wanted) {
  TW_CHECK(given > 0 && !wanted.empty());
  TW_CHECK_EQ(given_lanes, 1 << Log2(given_lanes));
  for (const std::vector<LanePlace>& vector : wanted)
    TW_CHECK_EQ(vector.size(), size_t{1} << Log2(wanted[0].size()));
  LaneMoves picks = Picks(given, given_lanes, wanted).Plan();
  std::optional<LaneMoves> network =
      PlanLaneNetwork(given, given_lanes, element_bytes, wanted);
  return network && network->steps.size() <= picks.steps.size()
             ? *std::move(network)
             : std::move(picks);
}

}  // namespace tilewright::lowering
