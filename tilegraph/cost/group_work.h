// The arithmetic of a group whose output is computed in tiles: of what kinds,
// and how much of each, with what overlapping tiles compute repeatedly.
#ifndef TILEWRIGHT_TILEGRAPH_COST_GROUP_WORK_H_
#define TILEWRIGHT_TILEGRAPH_COST_GROUP_WORK_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "tilegraph/cost/kernel_features.h"
#include "tilegraph/cost/tensor_levels.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/traffic/tile_work.h"

namespace tilewright {

class GroupWork {
 public:
  // `graph` and `group` must outlive it.
  GroupWork(const TensorGraph& graph, const Group& group,
            const TensorLevels& tensor_levels, const DeviceSpec& spec);

  struct Amount {
    double flops = 0;
    double recompute = 1;  // flops over those of computing everything once
    // By stage (one if it has none), in the order of members.
    std::vector<std::vector<ComputeFeatures>> computes;
  };
  // `task`: the `tiles` that a task takes in a row, as one tile. By stage, the
  // dimension along which it is expected to roll (tile_plan.h), since tiles
  // that follow each other along it need some of the same; -1: it does not.
  std::vector<int> Rolls(const TileWork& tile, const TileWork& task,
                         int64_t tiles) const;
  // Stages that roll in `plan` are computed once for a task, all others for
  // every tile.
  Amount Of(const TileWork& tile, const TileWork& task,
            const TilePlan& plan) const;

  // Results whose tiles are kept for later stages, and their stages.
  const std::map<TensorId, size_t>& kept() const { return kept_; }
  // Members whose tiles are never in memory: neither kept nor the output.
  const std::set<TensorId>& in_registers() const { return in_registers_; }

 private:
  struct Member {
    ComputeFeatures features;  // but those that depend on tiles
    double points = 1;         // per element
    double flops = 1;          // per point
    double elements = 1;       // of the whole tensor
    double element_bytes = 4;
    std::vector<int64_t> shape;
    int vector_dim = -1;
    bool crosses_lines = false;
    bool merges = false;  // dimensions around it lie in one run of memory
    std::vector<bool> row_axes, lane_axes;
    size_t stage = 0;
  };
  void MarkFused(const TensorGraph& graph, const Group& group);
  double FilledLanes(double run) const;  // share of 1
  // Slowdown of a contraction by its register tile, in a task that computes
  // such extents.
  double RegisterTileSlowdown(const Member& member,
                              const std::vector<int64_t>& extents) const;
  // Rows and lanes of tiles of these extents.
  void AddExtents(const Member& member, const std::vector<int64_t>& extents,
                  ComputeFeatures& compute) const;

  double lanes_;  // f32 in a vector
  const int registers_;
  // By vectors, rows, outer rows, and which of them other tasks compute too.
  mutable std::map<std::vector<int64_t>, double> slowdowns_;
  std::map<TensorId, Member> members_;
  std::vector<TensorId> stage_outputs_;
  std::map<TensorId, size_t> kept_;
  std::set<TensorId> in_registers_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_COST_GROUP_WORK_H_
