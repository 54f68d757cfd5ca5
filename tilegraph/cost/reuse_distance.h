// How much memory a run touches from one use of a tensor to the next (Mattson
// et al. 1970: stack distances), and how long that takes. A cache that keeps
// what was used last still holds the tensor if it has room for so many bytes,
// and if others that fill it have not driven it out meanwhile.
#ifndef TILEWRIGHT_TILEGRAPH_COST_REUSE_DISTANCE_H_
#define TILEWRIGHT_TILEGRAPH_COST_REUSE_DISTANCE_H_

#include <map>
#include <vector>

#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

// From one use to another.
struct ReuseDistance {
  double bytes = 0;
  double seconds = 0;
};

// Of runs of a plan, one after the other: before the first use of a tensor
// comes the last one of the run before, so that between two uses of a constant
// lies all that a run touches. Views are uses of the memory that they are views
// of. Two groups that use a tensor go through it in the same order: of what
// else each of them touches, half comes in between.
//
// A group may be made of several of the plan's, or be a part of one: it counts
// as those of the plan's that compute its members.
class ReuseDistances {
 public:
  // Must outlive it. Bytes above `most_bytes` are infinite: distances are not
  // counted further.
  ReuseDistances(const TensorGraph& graph, const Plan& plan, double most_bytes);
  // What each group of the plan takes, in their order. Until then no time
  // passes.
  void SetGroupSeconds(std::vector<double> group_seconds);

  // From the use before the group's to its own, the tensor's bytes among them.
  // Those alone where the plan computes none of the group's members.
  ReuseDistance Before(TensorId id, const Group& group) const;
  // From the group's use to the next.
  ReuseDistance After(TensorId id, const Group& group) const;

 private:
  // Distinct memory that one group of the plan touches.
  struct Touched {
    std::map<TensorId, double> bytes;
    double all_bytes = 0;
  };

  void AddGroup(const Group& group);
  double Bytes(TensorId id) const;
  // In the plan, of the groups that compute members of this one; ascending.
  std::vector<int> PlacesOf(const Group& group) const;
  // Of the memory, from the use at one place to the one at another, which is in
  // the next run if it does not come later.
  ReuseDistance Distance(TensorId memory, int from, int to) const;

  const TensorGraph& graph_;
  const Plan& plan_;
  const double most_bytes_;
  std::vector<Touched> touched_;                 // by place in the plan
  std::vector<double> group_seconds_;            // by place in the plan
  std::map<TensorId, std::vector<int>> places_;  // of uses, by memory
  std::vector<int> written_at_;   // by tensor: a place in the plan, -1: nowhere
  std::vector<int> computed_at_;  // also of what only registers hold
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_COST_REUSE_DISTANCE_H_
