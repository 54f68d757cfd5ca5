#include "tilegraph/tiling/subgraph_tiling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "backends/spec/load_spec.h"
#include "base/status_macros.h"
#include "tilegraph/tiling/subtiles.h"

namespace tilewright {
namespace {

constexpr double kUnknownOpsPerS = 1e11;
constexpr double kUnknownBytesPerS = 1e10;

// Of all cores.
double PeakOpsPerS(const DeviceSpec& spec) {
  const double peak = CorePeak(spec, "f32", PeakRate::VECTOR);
  return (peak > 0 ? peak : kUnknownOpsPerS) *
         static_cast<double>(std::max<int64_t>(1, spec.unit().cores()));
}

double BytesPerS(const MemoryLevel& level) {
  if (level.aggregate_read_bytes_per_s() > 0)
    return level.aggregate_read_bytes_per_s();
  return level.read_bytes_per_s() > 0 ? level.read_bytes_per_s()
                                      : kUnknownBytesPerS;
}

// Time over that of evenly spread tasks.
double Unevenness(double tasks, const DeviceSpec& spec) {
  const double cores =
      static_cast<double>(std::max<int64_t>(1, spec.unit().cores()));
  return std::ceil(tasks / cores) * cores / tasks;
}

void AddTo(PlanCost& cost, const TilePlan& plan, double times) {
  if (cost.bytes_by_level.size() <= static_cast<size_t>(plan.level))
    cost.bytes_by_level.resize(plan.level + 1, 0);
  cost.bytes_by_level[plan.level] += times * plan.cost.bytes();
  cost.fits &= plan.cost.fits;
  if (plan.inner.empty()) cost.flops += times * plan.cost.flops;
  for (const TilePlan& inner : plan.inner)
    AddTo(cost, inner, times * inner.times);
}

class Tiler {
 public:
  Tiler(const TileGraph& graph, const DeviceSpec& spec,
        const TilingOptions& options)
      : graph_(graph),
        spec_(spec),
        options_(options),
        planned_(PlannedLevels(spec, options)) {
    for (int level = 0; level < spec.levels_size(); ++level) {
      // Every core has its share of what cores share.
      MemoryLevel own = spec.levels(level);
      const int64_t sharing =
          std::min(own.cores_sharing(), spec.unit().cores());
      if (sharing > 1) own.set_capacity_bytes(own.capacity_bytes() / sharing);
      levels_.push_back(std::move(own));
    }
  }

  // Plans of `part` from `level` on, for tiles of `within`, best first.
  absl::StatusOr<std::vector<TilePlan>> Run(
      const Subgraph& part, int level, const std::vector<int64_t>& within) {
    TW_ASSIGN_OR_RETURN(std::vector<TilePlan> plans,
                        OneLevel(part, level, within));
    if (level + 1 == planned_) return plans;
    for (TilePlan& plan : plans) TW_RETURN_IF_ERROR(PlanInner(plan));
    std::stable_sort(
        plans.begin(), plans.end(),
        [&](const TilePlan& a, const TilePlan& b) { return Key(a) < Key(b); });
    return plans;
  }

 private:
  std::tuple<bool, double, double> Key(const TilePlan& plan) const {
    const PlanCost cost = CostOf(plan, spec_);
    const double bytes = cost.bytes_by_level[plan.level];
    return {!cost.fits, options_.by_traffic ? bytes : cost.seconds,
            options_.by_traffic ? cost.seconds : bytes};
  }

  // The parts that stay together further in, each for the region of it that
  // one tile of `plan` needs.
  absl::Status PlanInner(TilePlan& plan) {
    const int level = plan.level + 1;
    TW_ASSIGN_OR_RETURN(const TileWork work,
                        WorkOfTiles(graph_, plan.part, plan.tiles.tile, {}));
    std::map<TensorId, const TileOperand*> operands;
    for (const auto* list : {&work.inside, &work.outputs}) {
      for (const TileOperand& operand : *list)
        operands[operand.tensor] = &operand;
    }
    TW_ASSIGN_OR_RETURN(const std::vector<Subgraph> parts, graph_.Parts(level));
    for (const Subgraph& part : parts) {
      if (!std::binary_search(plan.part.members.begin(),
                              plan.part.members.end(), part.members[0]))
        continue;
      const TileOperand& output = *operands.at(part.outputs.back());
      TW_ASSIGN_OR_RETURN(std::vector<TilePlan> inner,
                          Run(part, level, output.extents));
      // What tiles further out compute more than once is more work here.
      const Tensor& tensor = graph_.graph().tensor(output.tensor);
      inner[0].times =
          output.total_bytes /
          static_cast<double>(tensor.num_elements() * SizeBytes(tensor.dtype));
      plan.inner.push_back(std::move(inner[0]));
    }
    return absl::OkStatus();
  }

  // The best tiles of one level by themselves.
  absl::StatusOr<std::vector<TilePlan>> OneLevel(
      const Subgraph& part, int level, const std::vector<int64_t>& within) {
    MemTraffic traffic(graph_, part, levels_[level], levels_[level + 1],
                       options_.traffic);
    Subtiles subtiles(graph_.graph(), part, within);
    std::map<std::tuple<double, double, std::vector<int64_t>>, TilePlan> found;
    // Tiles to grow further, the most promising first.
    std::set<std::tuple<double, double, std::vector<int64_t>>> open;
    std::set<std::vector<int64_t>> seen;
    TilePlan smallest;
    const auto visit = [&](std::vector<int64_t> spatial) -> absl::Status {
      if (!seen.insert(spatial).second) return absl::OkStatus();
      TilePlan plan;
      plan.level = level;
      plan.part = part;
      TW_ASSIGN_OR_RETURN(
          const TileShape tile,
          subtiles.FitReduction(TileShape{spatial, {}}, traffic));
      TW_ASSIGN_OR_RETURN(std::tie(plan.tiles, plan.cost),
                          BestOrder(traffic, tile, within));
      if (smallest.part.members.empty()) smallest = plan;
      if (!plan.cost.fits) return absl::OkStatus();
      const auto [fits, first, second] = Key(plan);
      open.insert({first, second, spatial});
      found.emplace(std::make_tuple(first, second, std::move(spatial)),
                    std::move(plan));
      if (static_cast<int>(found.size()) > options_.best)
        found.erase(std::prev(found.end()));
      return absl::OkStatus();
    };
    TW_RETURN_IF_ERROR(visit(subtiles.Smallest()));
    while (!open.empty() && static_cast<int>(seen.size()) < options_.visits) {
      const std::vector<int64_t> tile = std::get<2>(*open.begin());
      open.erase(open.begin());
      for (const std::vector<int64_t>& larger : subtiles.Grown(tile))
        TW_RETURN_IF_ERROR(visit(larger));
    }
    std::vector<TilePlan> plans;
    for (auto& [key, plan] : found) plans.push_back(std::move(plan));
    if (plans.empty()) plans.push_back(std::move(smallest));
    return plans;
  }

  // Orders of the loops: all of them for up to three that run, else those that
  // differ in which one runs fastest.
  static std::vector<std::vector<int>> Orders(
      const TileShape& tile, const std::vector<int64_t>& within) {
    std::vector<int> still, running;
    for (size_t d = 0; d < within.size(); ++d)
      (tile.spatial[d] < within[d] ? running : still)
          .push_back(static_cast<int>(d));
    std::vector<std::vector<int>> orders;
    const auto add = [&](const std::vector<int>& loops) {
      orders.push_back(still);
      orders.back().insert(orders.back().end(), loops.begin(), loops.end());
    };
    if (running.size() <= 3) {
      do {
        add(running);
      } while (std::next_permutation(running.begin(), running.end()));
      return orders;
    }
    for (size_t i = running.size(); i-- > 0;) {
      std::vector<int> loops = running;
      std::rotate(loops.begin() + static_cast<int64_t>(i),
                  loops.begin() + static_cast<int64_t>(i) + 1, loops.end());
      add(loops);
    }
    return orders;
  }

  absl::StatusOr<std::pair<LevelTiles, LevelCost>> BestOrder(
      MemTraffic& traffic, const TileShape& tile,
      const std::vector<int64_t>& within) const {
    std::pair<LevelTiles, LevelCost> best;
    best.second.read_bytes = std::numeric_limits<double>::infinity();
    for (std::vector<int>& order : Orders(tile, within)) {
      LevelTiles tiles{tile, std::move(order)};
      TW_ASSIGN_OR_RETURN(const LevelCost cost, traffic.Cost(tiles, within));
      if (cost.bytes() < best.second.bytes()) best = {std::move(tiles), cost};
    }
    return best;
  }

  const TileGraph& graph_;
  const DeviceSpec& spec_;
  const TilingOptions& options_;
  const int planned_;
  std::vector<MemoryLevel> levels_;
};

}  // namespace

int PlannedLevels(const DeviceSpec& spec, const TilingOptions& options) {
  const int levels = spec.levels_size();
  const int asked = options.levels > 0 ? options.levels : levels - 2;
  return std::max(1, std::min(asked, levels - 1));
}

PlanCost CostOf(const TilePlan& plan, const DeviceSpec& spec) {
  PlanCost cost;
  AddTo(cost, plan, 1);
  cost.tasks = static_cast<double>(plan.cost.tiles);
  cost.seconds = cost.flops / PeakOpsPerS(spec);
  for (size_t level = 0; level < cost.bytes_by_level.size(); ++level) {
    cost.seconds = std::max(
        cost.seconds, cost.bytes_by_level[level] /
                          BytesPerS(spec.levels(static_cast<int>(level))));
  }
  cost.seconds = cost.seconds * Unevenness(cost.tasks, spec) +
                 spec.unit().launch_ns() * 1e-9;
  return cost;
}

absl::StatusOr<std::vector<TilePlan>> TileSubgraph(
    const TileGraph& graph, const Subgraph& part, const DeviceSpec& spec,
    const TilingOptions& options) {
  return Tiler(graph, spec, options)
      .Run(part, 0, graph.graph().tensor(part.outputs.back()).static_shape());
}

}  // namespace tilewright
