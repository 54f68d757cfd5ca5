// The bytes that a group moves between the levels of a spec: MemTraffic at
// every level, for tensors that lie where the kernels before have left them
// (tensor_levels.h).
#ifndef TILEWRIGHT_TILEGRAPH_COST_GROUP_TRAFFIC_H_
#define TILEWRIGHT_TILEGRAPH_COST_GROUP_TRAFFIC_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/spec/device_spec.pb.h"
#include "tilegraph/cost/kernel_features.h"
#include "tilegraph/cost/stage_rules.h"
#include "tilegraph/cost/tensor_levels.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/traffic/mem_traffic.h"
#include "tilegraph/traffic/tile_graph.h"

namespace tilewright {

class GroupTraffic {
 public:
  // `in_registers`: members whose tiles are never in memory. `reduce_steps`:
  // what a block of the last stage's steps takes of members' reductions. All
  // must outlive it but those and `model`.
  GroupTraffic(const TileGraph& graph, const Group& group,
               const TensorLevels& tensor_levels,
               const std::vector<MemoryLevel>& levels, int private_level,
               int closest_level, const CostModel& model,
               std::set<TensorId> in_registers, ReduceSteps reduce_steps = {});
  GroupTraffic(const GroupTraffic&) = delete;

  // By stage (one if there are none), by level i up to the closest: what
  // crosses between levels[i] and [i + 1] while tiles are computed. What
  // several stages read comes in once, if a tile of it stays, for the first of
  // them. Along `steps` (-1: no dimension) a task takes several tiles one after
  // the other; tasks follow each other row by row, or, without stages, in the
  // order that moves least into the private level. Errors as of TileWorks.
  using ByStage = std::vector<std::vector<LevelBytes>>;
  absl::StatusOr<ByStage> Of(const std::vector<int64_t>& tile, int steps);
  absl::StatusOr<const TileWork*> WorkOf(const std::vector<int64_t>& tile) {
    return levels_.front().WorkOf(tile);
  }
  // Bytes of each input that a block of a task needs; stays valid.
  absl::StatusOr<absl::Span<const int64_t>> InputBytes(
      const std::vector<int64_t>& tile) {
    return levels_.front().StepBytes(tile);
  }

 private:
  // By stage.
  absl::StatusOr<std::vector<LevelBytes>> Across(int level,
                                                 const LevelTiles& tiles);

  // Bytes of an input's region between gaps in memory of a page or more, over
  // which prefetching goes on.
  double RunBytes(size_t input, const TileOperand& region) const;

  const TensorGraph& graph_;
  const TensorLevels& tensor_levels_;
  const Subgraph part_;
  const std::vector<int64_t> whole_;  // the output
  const bool has_stages_;
  const int private_level_;
  const double page_bytes_;
  size_t stages_ = 1;
  std::vector<int> input_levels_, output_levels_;
  // Inside the private level its tiles are like those of other stages.
  struct SideOutput {
    TensorId tensor;
    size_t stage;  // that writes it
    int level;
  };
  std::vector<SideOutput> side_outputs_;
  std::vector<std::vector<size_t>> input_stages_;  // that read it, ascending
  std::map<TensorId, size_t> written_;             // by member: its stage
  std::map<TensorId, size_t> read_;  // by member: the first after that
  std::vector<MemTraffic> levels_;   // from levels[i] to [i + 1]
  std::vector<double> kept_bytes_;   // of a tile, in levels[i + 1]
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_COST_GROUP_TRAFFIC_H_
