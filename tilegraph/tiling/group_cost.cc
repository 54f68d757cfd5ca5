#include "tilegraph/tiling/group_cost.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/string_view.h"
#include "tilegraph/access.h"
#include "tilegraph/operations.h"
#include "tilegraph/task_steps.h"
#include "tilegraph/tiling/climb_tiles.h"
#include "tilegraph/tiling/compute_rate.h"

namespace tilewright {
namespace {

// Share of a private cache that what a task keeps there may fill.
constexpr double kTaskShare = 0.75;
// A tensor up to this share of a level is still there when the next kernel
// reads it.
constexpr double kHomeShare = 0.5, kSharedHomeShare = 0.25;
constexpr double kTaskSeconds = 100e-9;   // to start one
constexpr double kStageSeconds = 300e-9;  // each stage of it
// Kernels with windows in tiles over those that run over whole rows: more and
// smaller edges.
constexpr double kWindowTiles = 1.15;
// Of all, for a full private cache: it holds less than it could.
constexpr double kCrowding = 0.04;
constexpr double kUnknownBytesPerS = 1e10;

double Or(double value, double otherwise) {
  return value > 0 ? value : otherwise;
}
double ReadRate(const MemoryLevel& level) {
  return Or(level.read_bytes_per_s(), kUnknownBytesPerS);
}
double WriteRate(const MemoryLevel& level) {
  return Or(level.write_bytes_per_s(), ReadRate(level));
}
double AllReadRate(const MemoryLevel& level) {
  return Or(level.aggregate_read_bytes_per_s(), ReadRate(level));
}

std::vector<TensorId> Computes(const TensorGraph& graph) {
  std::vector<TensorId> computes;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kCompute) computes.push_back(tensor.id);
  }
  return computes;
}

double Bytes(const Tensor& tensor) {
  return static_cast<double>(tensor.num_elements() * SizeBytes(tensor.dtype));
}

// The bytes of each input that come in, over all tiles: regions that stay while
// inner loops run are read once if there is room for them, in the best order of
// the loops.
std::vector<double> ReadBytes(const TileWork& work, double room) {
  std::vector<int> running;
  for (size_t d = 0; d < work.trips.size(); ++d) {
    if (work.trips[d] > 1) running.push_back(static_cast<int>(d));
  }
  std::vector<double> best;
  double least = 0;
  do {
    std::vector<double> bytes;
    for (const TileOperand& one : work.inputs) {
      double reads = one.total_bytes;
      double held = static_cast<double>(one.step_bytes);
      for (const TileOperand& other : work.inputs) {
        if (&other != &one && (running.empty() || other.varies[running.back()]))
          held += static_cast<double>(other.step_bytes);
      }
      if (held <= room) {
        for (size_t i = running.size(); i-- > 0;) {
          if (one.varies[running[i]]) break;
          reads /= static_cast<double>(work.trips[running[i]]);
        }
      }
      bytes.push_back(reads);
    }
    const double sum = std::accumulate(bytes.begin(), bytes.end(), 0.0);
    if (best.empty() || sum < least) best = std::move(bytes), least = sum;
  } while (running.size() <= 3 &&
           std::next_permutation(running.begin(), running.end()));
  return best;
}

int ReadersOf(const TensorGraph& graph, const Group& group, TensorId tensor) {
  int readers = 0;
  for (const TensorId member : group.members) {
    const std::vector<TensorId> inputs = graph.Inputs(member);
    readers +=
        static_cast<int>(std::count(inputs.begin(), inputs.end(), tensor));
  }
  return readers;
}

// What a tile computes of `operand`, `elements` in the mean: of its region, not
// what the tile before has left there.
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

}  // namespace

GroupPricer::GroupPricer(const TensorGraph& graph, const Plan& plan,
                         const DeviceSpec& spec)
    : graph_(graph),
      plan_(plan),
      spec_(spec),
      tile_graph_(graph, Computes(graph)),
      memory_(&spec.levels(0)),
      shared_(&spec.levels(0)),
      private_(&spec.levels(0)) {
  const auto share = [&](const MemoryLevel& level) {
    const double capacity = level.capacity_bytes() > 0
                                ? static_cast<double>(level.capacity_bytes())
                                : 1e18;
    return capacity /
           static_cast<double>(std::max<int64_t>(
               1, std::min(level.cores_sharing(), spec.unit().cores())));
  };
  // The largest level of a core is its private one; what is around it, shared.
  for (int i = 1; i < spec.levels_size(); ++i) {
    const MemoryLevel& level = spec.levels(i);
    if (level.kind() == MemoryLevel::REGISTER) break;
    private_ = &level;
    shared_ = &spec.levels(i - 1);
    if (level.scope() != MemoryLevel::CORE) continue;
    if (i + 1 < spec.levels_size() &&
        spec.levels(i + 1).kind() != MemoryLevel::REGISTER)
      closest_ = &spec.levels(i + 1);
    break;
  }
  if (closest_ == nullptr) closest_ = private_;
  shared_capacity_ = share(*shared_);
  private_capacity_ = share(*private_);
  closest_capacity_ = share(*closest_);
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kConstant) constant_bytes_ += Bytes(tensor);
  }
  lanes_ =
      static_cast<double>(std::max<int64_t>(1, spec.unit().vector_bytes() / 4));
}

const Layout* GroupPricer::LayoutOf(TensorId id) const {
  const auto layout = plan_.layouts.find(id);
  return layout == plan_.layouts.end() ? nullptr : &layout->second;
}

GroupPricer::Home GroupPricer::HomeOf(TensorId id) const {
  const Tensor& tensor = graph_.tensor(id);
  // Every run reads all constants.
  const double bytes =
      tensor.kind == TensorKind::kConstant ? constant_bytes_ : Bytes(tensor);
  if (bytes <= kHomeShare * private_capacity_) return Home::kPrivate;
  return bytes <= kSharedHomeShare * shared_capacity_ ? Home::kShared
                                                      : Home::kMemory;
}

int GroupPricer::VectorDim(TensorId id) const {
  const int rank = static_cast<int>(graph_.tensor(id).shape.size());
  const Layout* layout = LayoutOf(id);
  if (layout != nullptr) {
    for (size_t i = 0; i < layout->digits().size(); ++i) {
      const Layout::Digit& digit = layout->digits()[i];
      if (digit.extent > 1 && digit.div == 1 &&
          layout->stride(static_cast<int>(i)) == 1)
        return digit.dim;
    }
  }
  return rank - 1;
}

double GroupPricer::OpsPerSecond(TensorId member,
                                 const std::vector<int64_t>& extents,
                                 int vector_dim) const {
  const ComputeRate rate = RateOf(graph_, member, spec_);
  const std::vector<bool> row_axes =
      RowAxes(graph_.tensor(member).compute, vector_dim);
  double filled = 1, rows = 1;  // of the vectors, of the register tiles
  for (size_t d = 0; d < extents.size(); ++d) {
    const double extent = static_cast<double>(extents[d]);
    if (static_cast<int>(d) == vector_dim) {
      if (rate.along_output)
        filled = extent / (std::ceil(extent / lanes_) * lanes_);
    } else if (row_axes[d]) {
      rows *= extent;
    }
  }
  // Register tiles want several rows.
  return rate.ops_per_s * filled * rows / (rows + rate.rows_wanted);
}

absl::StatusOr<GroupCost> GroupPricer::Cost(
    const Group& group, const std::vector<int64_t>& tile) const {
  const Subgraph part = tile_graph_.SubgraphOf(group.members);
  TileWorks works(tile_graph_, part, {});
  return Cost(group, works, tile);
}

absl::StatusOr<GroupCost> GroupPricer::Cost(
    const Group& group, TileWorks& works,
    const std::vector<int64_t>& tile) const {
  TW_ASSIGN_OR_RETURN(const TileWork work, works.Of(TileShape{tile, {}}));
  // What the tiles of one task share is computed once.
  std::vector<int64_t> task = tile;
  if (!group.stages.empty()) {
    TW_ASSIGN_OR_RETURN(
        const auto steps,
        ChooseTaskSteps(graph_, group.stages, tile, VectorDim(group.output),
                        spec_.unit().cores()));
    if (steps) task[steps->axis] *= steps->tiles;
  }
  TW_ASSIGN_OR_RETURN(const TileWork whole, works.Of(TileShape{task, {}}));
  // What stays in the private cache.
  std::set<TensorId> kept;
  for (size_t s = 0; s + 1 < group.stages.size(); ++s)
    kept.insert(group.stages[s].members.back());
  for (const TensorId padding : group.members) {
    const auto zeros = AsZeroPadding(graph_, padding);
    if (zeros && ReadersOf(graph_, group, zeros->source) == 1)
      kept.erase(zeros->source);
  }

  GroupCost cost;
  cost.tile = tile;
  cost.tasks = static_cast<double>(whole.tiles);
  const double tiles = static_cast<double>(work.tiles);
  double once = 0, scratch_bytes = 0;
  for (const auto& list : {std::make_pair(&work.inside, &whole.inside),
                           std::make_pair(&work.outputs, &whole.outputs)}) {
    for (size_t i = 0; i < list.first->size(); ++i) {
      const TileOperand& operand = (*list.first)[i];
      const double total_bytes = (*list.second)[i].total_bytes;
      const Tensor& tensor = graph_.tensor(operand.tensor);
      // Paddings only move elements, whatever they compare on the way.
      const double operations = AsZeroPadding(graph_, tensor.id)
                                    ? 1
                                    : WeightedOperations(tensor.compute);
      double points = 1;
      for (const Axis& axis : tensor.compute.reduce_axes)
        points *= static_cast<double>(axis.extent.value());
      const double elements =
          total_bytes / static_cast<double>(SizeBytes(tensor.dtype));
      const double computed = points * elements;
      const int vector_dim = VectorDim(operand.tensor);
      points *= static_cast<double>(tensor.num_elements());
      const double flops =
          static_cast<double>(OperationsPerPoint(tensor.compute));
      cost.flops += computed * flops;
      once += points * flops;
      cost.work_seconds +=
          computed * operations /
          OpsPerSecond(operand.tensor,
                       ExtentsPerTile(operand, vector_dim, elements / tiles),
                       vector_dim);
      if (kept.count(operand.tensor)) {
        scratch_bytes += static_cast<double>(operand.step_bytes);
        cost.private_bytes += 2 * total_bytes;
      }
    }
  }
  cost.recompute = once > 0 ? cost.flops / once : 1;
  cost.scratch_bytes = static_cast<int64_t>(scratch_bytes);
  const MemoryLevel& between =
      scratch_bytes <= kHomeShare * closest_capacity_ ? *closest_ : *private_;
  cost.transfer_seconds +=
      cost.private_bytes / 2 * (1 / ReadRate(between) + 1 / WriteRate(between));

  const double room = kTaskShare * private_capacity_ - scratch_bytes;
  double moving = 0;  // input regions that change with every task
  for (const TileOperand& input : work.inputs) {
    if (std::any_of(input.varies.begin(), input.varies.end(),
                    [](bool varies) { return varies; }))
      moving += static_cast<double>(input.step_bytes);
  }
  cost.fits = group.stages.empty() || room >= moving;
  const std::vector<double> reads = ReadBytes(work, room);
  double memory_seconds = 0;  // at the rate of all cores
  const auto transfer = [&](TensorId id, double bytes, bool write) {
    const Home home = HomeOf(id);
    const double first = std::min(bytes, Bytes(graph_.tensor(id)));
    const auto rate = [&](const MemoryLevel& level) {
      return write ? WriteRate(level) : ReadRate(level);
    };
    if (home == Home::kMemory) {
      cost.memory_bytes += first;
      cost.transfer_seconds += first / rate(*memory_);
      memory_seconds += first / AllReadRate(*memory_);
      bytes -= first;
    }
    const bool close = home == Home::kPrivate;
    (close ? cost.private_bytes : cost.shared_bytes) += bytes;
    cost.transfer_seconds += bytes / rate(close ? *private_ : *shared_);
    if (!close) memory_seconds += bytes / AllReadRate(*shared_);
  };
  for (size_t i = 0; i < work.inputs.size(); ++i) {
    const double rolling =
        whole.inputs[i].total_bytes / work.inputs[i].total_bytes;
    transfer(work.inputs[i].tensor, reads[i] * rolling, false);
  }
  for (const TileOperand& output : work.outputs)
    transfer(output.tensor, output.total_bytes, true);

  const double cores =
      static_cast<double>(std::max<int64_t>(1, spec_.unit().cores()));
  const double launch = spec_.unit().launch_ns() * 1e-9;
  // Of the core with most to do, over the mean; the last tiles may be partial.
  double uneven = std::ceil(cost.tasks / cores) * cores;
  for (size_t d = 0; d < task.size(); ++d) {
    const double extent =
        static_cast<double>(graph_.tensor(group.output).shape[d].value());
    uneven *= std::min(static_cast<double>(task[d]), extent) / extent;
  }
  if (!group.stages.empty() &&
      std::any_of(group.members.begin(), group.members.end(),
                  [&](TensorId member) {
                    return SlidesWindow(graph_.tensor(member).compute);
                  }))
    cost.work_seconds *= kWindowTiles;
  const double busy =
      cost.work_seconds + cost.transfer_seconds +
      cost.tasks * (kTaskSeconds +
                    kStageSeconds * static_cast<double>(group.stages.size()));
  cost.one_core_seconds = busy + launch;
  cost.seconds = std::max(busy / cores * uneven,
                          cost.work_seconds / cores + memory_seconds) +
                 launch;
  cost.core_seconds = (cost.one_core_seconds + cores * cost.seconds) / 2 *
                      (1 + kCrowding * scratch_bytes / private_capacity_);
  return cost;
}

absl::StatusOr<std::vector<GroupCost>> GroupPricer::BestFew(const Group& group,
                                                            int count) const {
  TW_CHECK_GE(count, 1);
  const std::vector<int64_t> shape = graph_.tensor(group.output).static_shape();
  const int vector_dim = VectorDim(group.output);
  std::vector<std::vector<int64_t>> sizes;
  for (size_t d = 0; d < shape.size(); ++d) {
    sizes.push_back(DividingSizes(shape[d], static_cast<int>(d) == vector_dim
                                                ? static_cast<int64_t>(lanes_)
                                                : 1));
  }
  const Subgraph part = tile_graph_.SubgraphOf(group.members);
  TileWorks works(tile_graph_, part, {});
  std::vector<GroupCost> costs;
  const auto rank = [](const GroupCost& cost) {
    return cost.fits ? TileRank{false, cost.core_seconds}
                     : TileRank{true, static_cast<double>(cost.scratch_bytes)};
  };
  TW_RETURN_IF_ERROR(ClimbTiles(
      sizes, vector_dim,
      [&](const std::vector<int64_t>& tile) -> absl::StatusOr<TileRank> {
        TW_ASSIGN_OR_RETURN(GroupCost cost, Cost(group, works, tile));
        costs.push_back(std::move(cost));
        return rank(costs.back());
      }));
  std::stable_sort(costs.begin(), costs.end(),
                   [&](const GroupCost& a, const GroupCost& b) {
                     return rank(a) < rank(b);
                   });
  // One that overflows is returned only if all do.
  size_t few = 1;
  while (few < costs.size() && few < static_cast<size_t>(count) &&
         costs[few].fits)
    ++few;
  costs.resize(few);
  return costs;
}

absl::StatusOr<GroupCost> GroupPricer::Best(const Group& group) const {
  TW_ASSIGN_OR_RETURN(const std::vector<GroupCost> best, BestFew(group, 1));
  return best[0];
}

std::string GroupPricer::Signature(const Group& group) const {
  std::map<TensorId, int> local;
  std::string text;
  const auto describe = [&](TensorId id) {
    const Tensor& tensor = graph_.tensor(id);
    local.emplace(id, static_cast<int>(local.size()));
    absl::StrAppend(&text, "%", local.at(id), " ", ToAbsl(Name(tensor.dtype)),
                    "[", absl::StrJoin(tensor.static_shape(), ","), "] ",
                    static_cast<int>(tensor.kind), " ",
                    static_cast<int>(HomeOf(id)));
    if (const Layout* layout = LayoutOf(id))
      absl::StrAppend(&text, " ", layout->ToString());
  };
  std::set<TensorId> members(group.members.begin(), group.members.end());
  for (const TensorId member : group.members) {
    for (const TensorId input : graph_.Inputs(member)) {
      if (members.count(input) || local.count(input)) continue;
      describe(input);
      text += "\n";
    }
  }
  for (const TensorId member : group.members) {
    const Compute& compute = graph_.tensor(member).compute;
    describe(member);
    for (const Axis& axis : compute.reduce_axes)
      absl::StrAppend(&text, " over ", axis.extent.value());
    if (compute.combiner)
      absl::StrAppend(&text, " ", compute.combiner->ToString(), " ",
                      compute.result);
    for (const Expr& body : compute.body) {
      absl::StrAppend(
          &text, " ",
          PrintExpr(
              body,
              [&](int source) { return absl::StrCat("%", local.at(source)); },
              [](const Expr& var) { return absl::StrCat("v", var.var_id()); }));
    }
    text += "\n";
  }
  for (const Stage& stage : group.stages) {
    text += "stage";
    for (const TensorId member : stage.members)
      absl::StrAppend(&text, " %", local.at(member));
    text += "\n";
  }
  return text;
}

}  // namespace tilewright
