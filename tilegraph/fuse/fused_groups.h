// Groups of a plan fused into fused ones (plan.h: Group::stages): which may
// be fused at all, and the plan that results.
//
// A group that is fused becomes a stage. If all that reads its result is
// inside, that never reaches memory; else it is a side output. Views of it
// become members of the stages that read them. A zero padding is a stage of its
// own: what its halo held has to be computed. So is a view that several stages
// read.
#ifndef TILEWRIGHT_TILEGRAPH_FUSE_FUSED_GROUPS_H_
#define TILEWRIGHT_TILEGRAPH_FUSE_FUSED_GROUPS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

// Groups of a plan that become one.
struct Fusion {
  std::vector<int> groups;  // ascending; tiles are of the last one's output
  TilePlan tile_plan;
  std::string why;  // one line: what is gained
};

class FusionRules {
 public:
  // Both must outlive it. REQUIRES: `plan` was made for `graph` and no group of
  // it has stages.
  FusionRules(const TensorGraph& graph, const Plan& plan);

  // The groups that read the result of `group`, through views and
  // concatenations too, ascending.
  const std::vector<int>& Readers(int group) const { return readers_[group]; }
  // Whether the result of `group` has to be in memory whoever reads it.
  bool InMemory(int group) const { return in_memory_[group]; }

  // The group that `groups` (ascending) become, without a tile.
  // FailedPrecondition with the reason if they cannot, or others read a result
  // before the last is done.
  absl::StatusOr<Group> Fused(absl::Span<const int> groups) const;

  // The plan with these fusions, which share no group. REQUIRES: each can be.
  Plan WithFusions(absl::Span<const Fusion> fusions) const;

 private:
  void FindReaders(int group, const std::map<TensorId, int>& group_of);
  // Adds each of `views` to the stage that reads it, or as a stage of its own.
  absl::Status AddViews(std::vector<TensorId> views,
                        std::map<TensorId, int>& stage_of,
                        std::vector<Stage>& stages) const;
  const TensorGraph& graph_;
  const Plan& plan_;
  const std::vector<std::vector<TensorId>>& consumers_;
  std::vector<std::vector<TensorId>> views_;  // by group: of its output
  std::vector<std::vector<int>> readers_;
  std::vector<std::set<int>> through_concatenation_;  // those of the readers
  std::vector<std::string> alone_;
  std::vector<bool> in_memory_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_FUSE_FUSED_GROUPS_H_
