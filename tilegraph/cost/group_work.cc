#include "tilegraph/cost/group_work.h"

#include <algorithm>
#include <cmath>

#include "base/ceil_div.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/analysis/families.h"
#include "tilegraph/cost/compute_features.h"
#include "tilegraph/cost/member_lanes.h"
#include "tilegraph/cost/stage_rules.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/ir/operations.h"
#include "tilegraph/plan/register_tile.h"
#include "tilegraph/rewrite/winograd.h"
#include "tilegraph/rewrite/winograd_cost.h"

namespace tilewright {
namespace {

constexpr int64_t kWinogradTaps = 9;  // of its filters
// Accesses of the cache for a vector that crosses a line. Where rows are a
// multiple of half a vector, measured times show no such cost.
constexpr double kLinesOfCrossingVector = 2;

// Extents that a tile computes of `operand`, `elements` in the mean: its region
// without those elements that the tile before has left there.
std::vector<int64_t> ExtentsPerTile(const TileOperand& operand, int vector_dim,
                                    double elements) {
  std::vector<int64_t> extents = operand.extents;
  double region = 1;
  int longest = -1;
  for (size_t d = 0; d < extents.size(); ++d) {
    region *= static_cast<double>(extents[d]);
    if (static_cast<int>(d) != vector_dim &&
        (longest < 0 || extents[d] > extents[longest]))
      longest = static_cast<int>(d);
  }
  if (longest >= 0 && elements < region)
    extents[longest] = std::max<int64_t>(
        1, std::llround(static_cast<double>(extents[longest]) * elements /
                        region));
  return extents;
}

// Elements along a dimension that lie side by side. Null: plain.
int64_t RunOf(const Layout* layout, int dim,
              const std::vector<int64_t>& shape) {
  int64_t run = dim < 0 ? 1 : shape[dim];
  if (layout == nullptr) return run;
  for (const Layout::Digit& digit : layout->digits()) {
    if (digit.dim == dim && digit.div == 1) run = std::min(run, digit.extent);
  }
  return run;
}

bool Pads(const ZeroPadding& padding, int dim) {
  return dim >= 0 && (padding.before[dim] > 0 || padding.after[dim] > 0);
}

// In the tiles that its schedule will prefer.
void MakeWinograd(const TensorGraph& graph,
                  const WinogradConvolution& convolution,
                  const DeviceSpec& spec, ComputeFeatures& compute) {
  const std::vector<int> tiles = WinogradTiles(graph, convolution);
  if (tiles.empty()) return;
  const WinogradCase& shape = convolution.shape;
  const int m = FastestWinogradTile(shape, tiles, spec);
  compute.kind = ArithmeticKind::kWinograd;
  compute.winograd_m = m;
  compute.terms = static_cast<double>(shape.in_channels);
  compute.input_tiles = static_cast<double>(shape.tiles(m) * shape.in_channels);
  compute.output_tiles =
      static_cast<double>(shape.tiles(m) * shape.out_channels);
}

// The part of a tile that is a member's.
const TileOperand& OperandOf(const TileWork& tile, TensorId member) {
  const auto inside =
      std::lower_bound(tile.inside.begin(), tile.inside.end(), member,
                       [](const TileOperand& operand, TensorId id) {
                         return operand.tensor < id;
                       });
  return inside != tile.inside.end() && inside->tensor == member
             ? *inside
             : tile.outputs[0];
}

// Along which dimension tiles that follow each other share what they need of
// it: its region grows along that alone, by less than a tile each, and lanes do
// not lie there. -1: none.
int RollsAlong(const TileOperand& tile, const TileOperand& task, int64_t tiles,
               int vector_dim) {
  int along = -1;
  for (size_t d = 0; d < tile.extents.size(); ++d) {
    if (task.extents[d] <= tile.extents[d]) continue;
    if (static_cast<int>(d) == vector_dim || along >= 0 ||
        task.extents[d] == tiles * tile.extents[d])
      return -1;
    along = static_cast<int>(d);
  }
  return along;
}

}  // namespace

GroupWork::GroupWork(const TensorGraph& graph, const Group& group,
                     const TensorLevels& tensor_levels, const DeviceSpec& spec)
    : lanes_(static_cast<double>(
          std::max<int64_t>(1, spec.unit().vector_bytes() / 4))),
      registers_(static_cast<int>(spec.unit().vector_registers())),
      stage_outputs_({group.output}) {
  const std::map<TensorId, int> lanes =
      MemberLanes(graph, group, tensor_levels);
  const auto lanes_of = [&](TensorId id) {
    const auto member = lanes.find(id);
    return member == lanes.end() ? tensor_levels.VectorDim(id) : member->second;
  };
  for (const TensorId id : group.members) {
    const Tensor& tensor = graph.tensor(id);
    Member& member = members_[id];
    for (const Axis& axis : tensor.compute.reduce_axes)
      member.points *= static_cast<double>(axis.extent.value());
    member.flops = static_cast<double>(OperationsPerPoint(tensor.compute));
    member.vector_dim = lanes_of(id);
    std::vector<int> input_dims;
    for (const TensorId input : graph.Inputs(id))
      input_dims.push_back(lanes_of(input));
    member.features = FeaturesOf(graph, id, member.vector_dim, input_dims);
    // Paddings only move elements, whatever they compare on the way.
    const auto padding = AsZeroPadding(graph, id);
    if (padding) {
      member.features.operations = {};
      member.features.operations.simple = 1;
      // Vectors at the two borders are put together of elements.
      if (Pads(*padding, member.vector_dim)) {
        const double row = static_cast<double>(
            tensor.static_shape()[static_cast<size_t>(member.vector_dim)]);
        member.features.operations.scattered_loads =
            std::min(1.0, 2 / std::ceil(row / lanes_));
      }
    }
    const auto winograd = AsWinograd(graph, id);
    if (group.stages.empty() && winograd)
      MakeWinograd(graph, *winograd, spec, member.features);
    member.elements = static_cast<double>(tensor.num_elements());
    member.element_bytes = static_cast<double>(SizeBytes(tensor.dtype));
    member.row_axes = RowAxes(tensor.compute, member.vector_dim);
    member.lane_axes = LaneAxes(tensor.compute);
    const Layout* const layout = tensor_levels.LayoutOf(id);
    member.merges = (layout == nullptr || layout->is_row_major()) &&
                    !SlidesWindow(tensor.compute);
    member.shape = tensor.static_shape();
    // Stages lie in scratch, whose runs begin with a line.
    member.crosses_lines = group.stages.empty() &&
                           SlidesWindow(tensor.compute) &&
                           RunOf(tensor_levels.LayoutOf(group.output),
                                 member.vector_dim, member.shape) %
                                   std::max<int64_t>(
                                       1, static_cast<int64_t>(lanes_) / 2) !=
                               0;
    if (id != group.output) in_registers_.insert(id);
  }
  if (group.stages.empty()) {
    MarkFused(graph, group);
    return;
  }
  stage_outputs_.clear();
  for (size_t s = 0; s < group.stages.size(); ++s) {
    const TensorId output = group.stages[s].members.back();
    for (const TensorId id : group.stages[s].members) members_[id].stage = s;
    stage_outputs_.push_back(output);
    if (output != group.output && group.tile_plan.stages[s].held)
      kept_[output] = s;
  }
  for (const auto& [id, stage] : kept_) in_registers_.erase(id);
  MarkFused(graph, group);
}

// Elementwise computes beside a contraction or a window, and the padding around
// one: their loads and stores are there anyway, and chains of them overlap.
void GroupWork::MarkFused(const TensorGraph& graph, const Group& group) {
  std::set<size_t> hiding;  // stages
  for (const auto& [id, member] : members_) {
    const ArithmeticKind kind = member.features.kind;
    if (kind == ArithmeticKind::kElementwise || kind == ArithmeticKind::kRow)
      continue;
    hiding.insert(member.stage);
    if (IsComputedWithNext(graph, group, member.stage))
      hiding.insert(member.stage + 1);
  }
  for (auto& [id, member] : members_) {
    member.features.is_fused =
        member.features.kind == ArithmeticKind::kElementwise &&
        hiding.count(member.stage) != 0;
  }
}

std::vector<int> GroupWork::Rolls(const TileWork& tile, const TileWork& task,
                                  int64_t tiles) const {
  std::vector<int> rolls;
  for (const TensorId output : stage_outputs_) {
    rolls.push_back(RollsAlong(OperandOf(tile, output), OperandOf(task, output),
                               tiles, members_.at(output).vector_dim));
  }
  return rolls;
}

GroupWork::Amount GroupWork::Of(const TileWork& tile, const TileWork& task,
                                const TilePlan& plan) const {
  Amount amount;
  amount.computes.resize(stage_outputs_.size());
  const auto rolls = [&](size_t stage) {
    return stage < plan.stages.size() && plan.stages[stage].rolls_along >= 0;
  };
  double once = 0;
  const double tiles = static_cast<double>(tile.tiles);
  for (const auto& [id, member] : members_) {
    const TileOperand& by_tile = OperandOf(tile, id);
    const double elements =
        (rolls(member.stage) ? OperandOf(task, id) : by_tile).total_bytes /
        member.element_bytes;
    const double computed = member.points * elements;
    amount.flops += computed * member.flops;
    once += member.points * member.elements * member.flops;
    ComputeFeatures& compute =
        amount.computes[member.stage].emplace_back(member.features);
    compute.points = computed;
    AddExtents(member,
               ExtentsPerTile(by_tile, member.vector_dim, elements / tiles),
               compute);
  }
  if (once > 0) amount.recompute = amount.flops / once;
  return amount;
}

double GroupWork::FilledLanes(double run) const {
  return run / (std::ceil(run / lanes_) * lanes_);
}

double GroupWork::RegisterTileSlowdown(
    const Member& member, const std::vector<int64_t>& extents) const {
  TileSpace space{1, 1, 1, registers_, 1};
  std::vector<int64_t> cut(3);  // by vectors, rows and outer rows
  int rows = 0;                 // dimensions of them so far
  for (size_t d = extents.size(); d-- > 0;) {
    const bool is_cut = extents[d] < member.shape[d];
    if (static_cast<int>(d) == member.vector_dim) {
      space.vectors = CeilDiv(extents[d], static_cast<int64_t>(lanes_));
      cut[0] = is_cut;
    } else if (member.row_axes[d] && extents[d] > 1 && rows < 2) {
      (rows == 0 ? space.rows : space.outer_rows) = extents[d];
      cut[++rows] = is_cut;
    }
  }
  const auto [known, is_new] = slowdowns_.try_emplace(
      {space.vectors, space.rows, space.outer_rows, cut[0], cut[1], cut[2]}, 1);
  if (!is_new) return known->second;
  space.allowed = [&](const RegisterTile& tile) {
    return (!cut[0] || StaysInside(tile.vectors, space.vectors)) &&
           (!cut[1] || StaysInside(tile.rows, space.rows)) &&
           (!cut[2] || StaysInside(tile.outer_rows, space.outer_rows));
  };
  return known->second = SlowdownOfAllowed(space);
}

void GroupWork::AddExtents(const Member& member,
                           const std::vector<int64_t>& extents,
                           ComputeFeatures& compute) const {
  double run = 1;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (static_cast<int>(d) == member.vector_dim) {
      run = static_cast<double>(extents[d]);
    } else if (member.row_axes[d]) {
      compute.rows *= static_cast<double>(extents[d]);
    }
  }
  // Where dimensions lie one after the other, vectors run on.
  for (int d = member.vector_dim; member.merges && d > 0; --d) {
    if (extents[d] < member.shape[d] || member.row_axes[d - 1]) break;
    run *= static_cast<double>(extents[d - 1]);
  }
  compute.filled_lanes =
      FilledLanes(run) / (member.crosses_lines ? kLinesOfCrossingVector : 1);
  if (compute.kind == ArithmeticKind::kWinograd) {
    // Products are those of a tile instead of nine for each of its outputs;
    // lanes lie along channels.
    const double m = compute.winograd_m;
    compute.points *=
        (m + 2) * (m + 2) / (m * m * static_cast<double>(kWinogradTaps));
    compute.filled_lanes = 1;
  }
  if (compute.kind != ArithmeticKind::kContraction) return;
  if (stage_outputs_.size() > 1)
    compute.register_tile_slowdown = RegisterTileSlowdown(member, extents);
  // Lanes lie where they are filled best.
  for (size_t d = 0; d < extents.size(); ++d) {
    const double filled = FilledLanes(static_cast<double>(extents[d]));
    if (!member.lane_axes[d] || filled <= compute.filled_lanes) continue;
    compute.filled_lanes = filled;
    compute.operations.scattered_loads = 0;
  }
}

}  // namespace tilewright
