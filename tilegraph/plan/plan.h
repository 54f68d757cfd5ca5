// The plan: which computes share a kernel, in which order groups run, and how
// the tensors between them lie in memory. The planner alone decides what is
// fused; schedules only change what happens inside a group (design:
// planning.md).
#ifndef TILEWRIGHT_TILEGRAPH_PLAN_PLAN_H_
#define TILEWRIGHT_TILEGRAPH_PLAN_PLAN_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tilegraph/analysis/known_zeros.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/tile_plan.h"

namespace tilewright {

// Part of a group that is computed tile by tile: what one nest of loops makes
// of a tile.
struct Stage {
  // Ascending; the last is its output. Views that it reads through are members
  // too.
  std::vector<TensorId> members;
};

// Computes that become one kernel.
struct Group {
  std::vector<TensorId> members;  // ascending
  std::vector<TensorId> inputs;   // placeholders, constants and other groups'
                                  // outputs that members load, ascending
  TensorId output;
  // Results of stages before the last that others read too, ascending: written
  // to memory tile by tile; later stages read them there.
  std::vector<TensorId> side_outputs;
  // Why it ends where it ends, and what else it could have been; one line each.
  std::vector<std::string> why;
  // Empty: one nest of loops. Otherwise its members in stages, in an order in
  // which they can run, the last with `output`: a task computes a tile of it,
  // and of the stages before what that needs, which stays in a cache or a
  // scratchpad. Tiles of side outputs do not overlap.
  std::vector<Stage> stages;
  // Of stages; on GPUs of every group that has a kernel in blocks of threads.
  TilePlan tile_plan;
};

// All that it writes, `output` last.
std::vector<TensorId> OutputsOf(const Group& group);

struct Plan {
  std::vector<Group> groups;  // in an order in which they can run
  // The layout of every tensor that is no member or is a group's or a stage's
  // output, except constants; a concatenation written in place is no member.
  std::map<TensorId, Layout> layouts;
  // tensor -> the tensor whose memory it is: what only moves elements and can
  // be read where they lie, paddings that the source's zero halo already holds,
  // and what groups write as a part of a concatenation. Chains are resolved.
  std::map<TensorId, TensorId> views;
  // Known zeros of every tensor of the graph: those around the source of a
  // padding, whether a kernel writes it or it is a view of the source's zero
  // halo.
  std::map<TensorId, KnownZeros> zeros;
};

struct PlanOptions {
  // kNone: every compute is its own group (views excepted). kRegister:
  // elementwise consumers are fused with their producer. kTileGraph: the
  // same; ConnectPlan (tiling/connect_plan.h) fuses its groups into fused
  // ones.
  enum class Connect { kNone, kRegister, kTileGraph };
  Connect connect = Connect::kRegister;
  // Channels per block of the layouts chosen for convolution outputs; 0 keeps
  // every layout plain. Unset: who knows the device decides
  // (plan_decisions.h); without one it is kDefaultChannelBlock.
  static constexpr int kDefaultChannelBlock = 16;
  std::optional<int> channel_block;
  int channel_block_or_default() const {
    return channel_block.value_or(kDefaultChannelBlock);
  }
};

// "none", "register" or "tilegraph"; nullopt for anything else.
std::optional<PlanOptions::Connect> ParseConnect(std::string_view text);

// REQUIRES: `graph` passes VerifyGraph. The model's boundary stays plain.
Plan MakePlan(const TensorGraph& graph, const PlanOptions& options);

std::string ToString(const Plan& plan, const TensorGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_PLAN_PLAN_H_
