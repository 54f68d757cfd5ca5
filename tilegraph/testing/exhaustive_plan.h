// The least cost of all ways to fuse the groups of a plan, for tests: every
// partition of the groups is looked at.
#ifndef TILEWRIGHT_TILEGRAPH_TESTING_EXHAUSTIVE_PLAN_H_
#define TILEWRIGHT_TILEGRAPH_TESTING_EXHAUSTIVE_PLAN_H_

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tilegraph/fuse/fused_groups.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

// Core seconds of a group in its best tile; infinite if none fits.
using InBestTile = std::function<double(Group)>;

class Exhaustive {
 public:
  Exhaustive(const TensorGraph& graph, const Plan& plan,
             InBestTile in_best_tile)
      : plan_(plan),
        in_best_tile_(std::move(in_best_tile)),
        rules_(graph, plan) {
    std::vector<std::vector<int>> parts;
    Partition(0, parts);
  }

  double least() const { return least_; }  // core seconds of all kernels
  bool any() const { return least_ < std::numeric_limits<double>::infinity(); }
  // Neither all groups in one kernel nor each in its own.
  bool mixed() const {
    return any() && kernels_ > 1 && kernels_ < plan_.groups.size();
  }

 private:
  double Of(const std::vector<int>& groups) {
    const auto known = known_.find(groups);
    if (known != known_.end()) return known->second;
    double least = std::numeric_limits<double>::infinity();
    if (groups.size() == 1) {
      least = in_best_tile_(plan_.groups[groups[0]]);
    } else if (const absl::StatusOr<Group> fused = rules_.Fused(groups);
               fused.ok()) {
      least = in_best_tile_(*fused);
    }
    return known_[groups] = least;
  }

  // Group g goes into one of `parts`, or begins another.
  void Partition(size_t g, std::vector<std::vector<int>>& parts) {
    if (g == plan_.groups.size()) {
      double seconds = 0;
      for (const std::vector<int>& part : parts) seconds += Of(part);
      if (seconds >= least_) return;
      least_ = seconds;
      kernels_ = parts.size();
      return;
    }
    for (size_t p = 0; p < parts.size(); ++p) {
      parts[p].push_back(static_cast<int>(g));
      Partition(g + 1, parts);
      parts[p].pop_back();
    }
    parts.push_back({static_cast<int>(g)});
    Partition(g + 1, parts);
    parts.pop_back();
  }

  const Plan& plan_;
  const InBestTile in_best_tile_;
  const FusionRules rules_;
  std::map<std::vector<int>, double> known_;
  double least_ = std::numeric_limits<double>::infinity();
  size_t kernels_ = 0;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TESTING_EXHAUSTIVE_PLAN_H_
