// The cost of a tile of a part on a GPU: T = max(operations / peak, bytes_l /
// bandwidth_l over the levels l), each times what waves and lanes leave idle,
// plus barriers and the launch (design: planning.md, "Cost").
//
// A core works at its full rate only with enough in flight (Little's law):
// independent operations for the latency of its units, loads for that of the
// memory. Blocks that are resident at the same time add up.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_GPU_TILE_EVALUATOR_H_
#define TILEWRIGHT_TILEGRAPH_GPU_GPU_TILE_EVALUATOR_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "tilegraph/gpu/generated_block.h"
#include "tilegraph/gpu/gpu_tile_plan.h"
#include "tilegraph/gpu/hardware/gpu_levels.h"
#include "tilegraph/gpu/tile_step.h"
#include "tilegraph/ir/arena.h"
#include "tilegraph/traffic/tile_graph.h"
#include "tilegraph/traffic/tile_work.h"

namespace tilewright {

// What kernels may make use of, beside threads: all that the device has, or
// only what the generator of their schedules can express.
struct GpuFeatures {
  bool matrix = true;  // matrix units, where an instruction has the very dtypes
  bool second_buffers = true;  // one is filled while the other is used
  bool swizzles = true;        // of rows; without, they are padded alone
  bool panels = true;          // orders of blocks that are not row-major
  // Of a thread and of a block, by estimate, at most; 0: as many as there are.
  int64_t registers = 0, scratchpad_bytes = 0;
};
// Threads, padded rows, blocks in row-major order.
inline constexpr GpuFeatures kThreadsOnly = {false, false, false, false, 0, 0};

// The decisions for a tile.
struct GpuTileDecision {
  std::vector<int64_t> tile;
  int64_t step = 0;  // along stepped axes; 0: whole
  int64_t threads = 128;
  bool double_buffer = false;  // of what comes step by step
  bool matrix = true;          // matrix units where they fit
  int64_t slices = 1;          // of a step's terms, where it can be cut
  bool loads_ahead = false;    // of the next step, into registers
  bool squares = false;        // threads have rows in fours (BlockTile::rows)

  bool steps_overlap() const { return double_buffer || loads_ahead; }
};

// Not thread-safe: remembers what tiles touch.
class GpuTileEvaluator {
 public:
  // All must outlive it. Tiles are of the last of part.outputs, the others are
  // written beside it. REQUIRES: GpuLevelsOf(spec).
  GpuTileEvaluator(const TileGraph& graph, const Subgraph& part,
                   const DeviceSpec& spec, const GpuFeatures& features = {});

  const GpuPart& part() const { return gpu_; }
  // The part with its last output alone, whose tiles the blocks are.
  const Subgraph& tiled() const { return tiled_; }

  // Extents of members and operands; errors as of TileWorks.
  absl::StatusOr<const TileWork*> Work(const std::vector<int64_t>& tile);

  // Whether blocks with this tile can write each element of the side outputs
  // once (block_remap.h).
  bool Partitions(const std::vector<int64_t>& tile) const;

  // Null if it does not fit: scratchpad, registers or threads. Rows lie plainly
  // in the scratchpad, blocks run in row-major order. Valid until the next
  // call.
  absl::StatusOr<const GpuTilePlan*> Evaluate(const GpuTileDecision& decision);

  // The same, or nullopt, with rows laid out against bank conflicts if there is
  // room for that, their conflicts counted, and blocks in their best order.
  absl::StatusOr<std::optional<GpuTilePlan>> Align(
      const GpuTileDecision& decision);

  // What was generated, costed as it is: threads and scratchpad are the
  // schedule's, and sums read from memory what that does not stage.
  // ResourceExhausted if a core has no room for it, or a thread for its values;
  // errors as of TileWorks.
  absl::StatusOr<GpuTilePlan> AsGenerated(const GeneratedBlock& made);

  // Threads worth trying for a tile.
  std::vector<int64_t> ThreadsFor(const TileWork& work, int64_t step);
  // Slices of a step worth trying, 1 first: of few blocks with few elements a
  // thread, so many that a thread has more of them, and loads operands for
  // more.
  std::vector<int64_t> SlicesFor(const TileWork& work, int64_t step,
                                 int64_t threads) const;

 private:
  // How rows lie in the scratchpad: plainly, as the search takes them; plainly,
  // their conflicts counted; against bank conflicts.
  enum class Rows { kPlain, kCounted, kBest };
  // Without decisions.
  GpuTilePlan Undecided() const;
  // False if it does not fit; `plan` may have had other decisions.
  absl::StatusOr<bool> Make(const GpuTileDecision& decision, Rows rows,
                            GpuTilePlan& plan);
  // All but threads, scratchpad and cost.
  void Outline(const GpuTileDecision& decision, const TileWork& work,
               GpuTilePlan& plan) const;
  // As the schedule divides the root of the cluster, if that is told.
  ClusterTile Divided(const GpuCluster& cluster, const TileWork& work,
                      const GpuTileDecision& decision, const BlockTile& made);
  // Keeps what the schedule has in the scratchpad, and nothing else.
  void TakeShared(const GeneratedBlock& made, const TileWork& work,
                  GpuTilePlan& plan) const;
  bool InMemory(TensorId id) const {
    return &LevelBetweenKernels(graph_, id, levels_) == levels_.memory;
  }
  // Valid until the next call.
  const TileStep& Step(const TileWork& work, int64_t step);
  // Slices that the sums of the member are cut into: those decided, of whole
  // steps of a reduction whose terms threads may share. Lanes do where threads
  // are many more than elements.
  int64_t SlicesOf(int member, const TileWork& work,
                   const GpuTileDecision& decision) const;
  // BestThreadTile of the root of a cluster.
  const ThreadTile& ThreadTileOf(int root, const ThreadWork& work,
                                 int64_t threads);
  ClusterTile Divide(const GpuCluster& cluster, const TileWork& work,
                     const GpuTileDecision& decision);
  // Turns of the banks in its layout over the least there could be.
  double ConflictsIn(const SharedOperand& operand,
                     const GpuTilePlan& plan) const;
  // Adds an operand of the scratchpad with its layout; `made`: the member that
  // makes it, -1 for inputs. Returns when it is alive, in members.
  BufferLifetime AddShared(TensorId tensor, std::vector<int64_t> extents,
                           int64_t copies, int made, Rows rows,
                           GpuTilePlan& plan) const;
  // Adds the partial sums of all slices of a cluster's root.
  BufferLifetime AddSlices(int root, const TileWork& work, int64_t slices,
                           GpuTilePlan& plan) const;
  // Buffers of the scratchpad, with their layouts, placed.
  void PlaceShared(const GpuTileDecision& decision, const TileWork& work,
                   const TileStep& step, Rows rows, GpuTilePlan& plan) const;
  int64_t RegistersOf(const GpuTileDecision& decision,
                      const GpuTilePlan& plan) const;
  // Cost (gpu_tile_seconds.cc).
  struct BlockTotals {
    int64_t most_steps = 1;
    std::vector<GpuTraffic> shared;  // through the banks
    double bytes_in_flight = 0;      // loads
    // By tensor: that sums load from where it lies, as it is not staged.
    std::map<TensorId, double> direct_bytes;
  };
  // One step of a member: operations, peak rate, and the share of it that what
  // is in flight can reach.
  struct MemberWork {
    double operations = 0, peak = 0, share = 1;
  };
  MemberWork OnMatrixUnits(const GpuMember& member, const MatrixForm& form,
                           const GpuTilePlan& plan,
                           const std::vector<int64_t>& axes, double turns,
                           BlockTotals& block) const;
  MemberWork OnThreads(const GpuMember& member, const ClusterTile& tile,
                       const GpuTilePlan& plan, const ThreadWork& of,
                       double turns, BlockTotals& block) const;
  double Waiting(const GpuTilePlan& plan, double share) const;
  double BytesOfInput(const TileOperand& input, const GpuTilePlan& plan) const;
  double BytesOfOutput(TensorId output, const TileWork& work) const;
  bool Measured() const;
  double Together(std::initializer_list<double> seconds) const;
  double WaitSeconds(const GpuTileDecision& decision, const BlockTotals& block,
                     const GpuTilePlan& plan) const;
  void AddIssue(GpuTilePlan& plan) const;
  void AddCompute(const TileStep& step, GpuTilePlan& plan,
                  BlockTotals& block) const;
  void AddScratchpad(const TileStep& step, GpuTilePlan& plan,
                     BlockTotals& block) const;
  void AddTraffic(const TileWork& work, Rows rows, const BlockTotals& block,
                  GpuTilePlan& plan) const;
  void AddCost(const GpuTileDecision& decision, const TileWork& work,
               const TileStep& step, Rows rows, GpuTilePlan& plan) const;

  const TensorGraph& graph_;
  const Subgraph& subgraph_;
  const DeviceSpec& spec_;
  const GpuFeatures features_;
  const GpuPart gpu_;
  const Subgraph tiled_;  // with the last output alone
  const GpuLevels levels_;
  TileWorks works_;
  std::map<std::vector<int64_t>, TileWork> known_;
  TileStep step_;  // of the tile and the size
  const TileWork* stepped_ = nullptr;
  int64_t step_size_ = -1;
  std::map<TensorId, int> row_dims_;  // of members and inputs
  // By root, threads and what else they depend on.
  absl::flat_hash_map<std::vector<int64_t>, ThreadTile> thread_tiles_;
  GpuTilePlan evaluated_;  // of the last Evaluate
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_GPU_TILE_EVALUATOR_H_
