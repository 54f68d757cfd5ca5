#include "tilegraph/tiling/subgraph_tiling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "backends/spec/load_spec.h"
#include "base/status_macros.h"
#include "tilegraph/tiling/core_levels.h"
#include "tilegraph/tiling/search_tiles.h"
#include "tilegraph/tiling/subtiles.h"

namespace tilewright {
namespace {

constexpr double kUnknownOpsPerS = 1e11;

// What the cost needs of a spec.
class Rates {
 public:
  explicit Rates(const DeviceSpec& spec)
      : cores_(static_cast<double>(std::max<int64_t>(1, spec.unit().cores()))),
        launch_seconds_(spec.unit().launch_ns() * 1e-9) {
    const double peak = CorePeak(spec, "f32", PeakRate::VECTOR);
    ops_per_s_ = (peak > 0 ? peak : kUnknownOpsPerS) * cores_;
    for (const MemoryLevel& level : spec.levels())
      bytes_per_s_.push_back(AllReadBytesPerS(level));
  }

  double OpsSeconds(double flops) const { return flops / ops_per_s_; }
  double BytesSeconds(size_t level, double bytes) const {
    return bytes / bytes_per_s_[level];
  }
  // What is busy for `busy_seconds` if `tasks` are spread evenly.
  double Seconds(double busy_seconds, double tasks) const {
    return busy_seconds * (std::ceil(tasks / cores_) * cores_ / tasks) +
           launch_seconds_;
  }

 private:
  const double cores_, launch_seconds_;
  double ops_per_s_;
  std::vector<double> bytes_per_s_;
};

void AddTo(PlanCost& cost, const TilePlan& plan, double times) {
  if (cost.bytes_by_level.size() <= static_cast<size_t>(plan.level))
    cost.bytes_by_level.resize(plan.level + 1, 0);
  cost.bytes_by_level[plan.level] += times * plan.cost.bytes();
  cost.fits &= plan.cost.fits;
  if (plan.inner.empty()) cost.flops += times * plan.cost.flops;
  for (const TilePlan& inner : plan.inner)
    AddTo(cost, inner, times * inner.times);
}

PlanCost CostAt(const TilePlan& plan, const Rates& rates) {
  PlanCost cost;
  AddTo(cost, plan, 1);
  cost.tasks = static_cast<double>(plan.cost.tiles);
  double busy = rates.OpsSeconds(cost.flops);
  for (size_t level = 0; level < cost.bytes_by_level.size(); ++level)
    busy =
        std::max(busy, rates.BytesSeconds(level, cost.bytes_by_level[level]));
  cost.seconds = rates.Seconds(busy, cost.tasks);
  return cost;
}

class Tiler {
 public:
  Tiler(const TileGraph& graph, const DeviceSpec& spec,
        const TilingOptions& options)
      : graph_(graph),
        rates_(spec),
        options_(options),
        planned_(PlannedLevels(spec, options)),
        levels_(LevelsOfCore(spec)) {}

  // Plans of `part` from `level` on, for tiles of `within`, best first; at
  // most `best`.
  absl::StatusOr<std::vector<TilePlan>> Run(const Subgraph& part, int level,
                                            const std::vector<int64_t>& within,
                                            int best) {
    TW_ASSIGN_OR_RETURN(std::vector<TilePlan> plans,
                        OneLevel(part, level, within, best));
    if (level + 1 == planned_) return plans;
    TW_ASSIGN_OR_RETURN(const std::vector<Subgraph> parts,
                        graph_.PartsOf(part.members, level + 1));
    TileWorks works(graph_, part, {});
    for (TilePlan& plan : plans) {
      TW_ASSIGN_OR_RETURN(const TileWork work, works.Of(plan.tiles.tile));
      TW_RETURN_IF_ERROR(PlanInner(parts, work, best, plan));
    }
    std::stable_sort(
        plans.begin(), plans.end(),
        [&](const TilePlan& a, const TilePlan& b) { return Key(a) < Key(b); });
    return plans;
  }

 private:
  // Better tiles first: seconds and bytes, or bytes and seconds.
  using Rank = TileRank;
  Rank RankOf(double seconds, double bytes) const {
    return options_.by_traffic ? Rank{bytes, seconds} : Rank{seconds, bytes};
  }
  std::pair<bool, Rank> Key(const TilePlan& plan) const {
    const PlanCost cost = CostAt(plan, rates_);
    return {!cost.fits, RankOf(cost.seconds, cost.bytes_by_level[plan.level])};
  }

  // Plans the parts that stay together further in, each for the region of it
  // that one tile of `plan` needs.
  absl::Status PlanInner(const std::vector<Subgraph>& parts,
                         const TileWork& work, int best, TilePlan& plan) {
    std::map<TensorId, const TileOperand*> operands;
    for (const auto* list : {&work.inside, &work.outputs}) {
      for (const TileOperand& operand : *list)
        operands[operand.tensor] = &operand;
    }
    for (const Subgraph& part : parts) {
      const TileOperand& output = *operands.at(part.outputs.back());
      // The best alone is taken: the search narrows inwards.
      TW_ASSIGN_OR_RETURN(
          std::vector<TilePlan> inner,
          Run(part, plan.level + 1, output.extents, std::max(1, best / 2)));
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
      const Subgraph& part, int level, const std::vector<int64_t>& within,
      int best) {
    MemTraffic traffic(graph_, part, levels_[level], levels_[level + 1],
                       options_.traffic);
    Subtiles subtiles(graph_.graph(), part, within);
    std::map<std::pair<Rank, std::vector<int64_t>>,
             std::pair<LevelTiles, LevelCost>>
        found;
    std::optional<std::pair<LevelTiles, LevelCost>> smallest;
    const auto visit = [&](const std::vector<int64_t>& spatial)
        -> absl::StatusOr<std::optional<TileRank>> {
      TW_ASSIGN_OR_RETURN(
          const TileShape tile,
          subtiles.FitReduction(TileShape{spatial, {}}, traffic));
      TW_ASSIGN_OR_RETURN(const MemTraffic::Footprint footprint,
                          traffic.FootprintOf(tile));
      if (!footprint.fits && smallest) return std::optional<TileRank>();
      TW_ASSIGN_OR_RETURN(auto costed, traffic.CostInBestOrder(tile, within));
      if (!smallest) smallest = costed;
      if (!footprint.fits) return std::optional<TileRank>();
      const LevelCost& cost = costed.second;
      const double busy = std::max(rates_.OpsSeconds(cost.flops),
                                   rates_.BytesSeconds(level, cost.bytes()));
      const Rank rank = RankOf(
          rates_.Seconds(busy, static_cast<double>(cost.tiles)), cost.bytes());
      found.emplace(std::pair(rank, spatial), std::move(costed));
      if (static_cast<int>(found.size()) > best)
        found.erase(std::prev(found.end()));
      return std::optional<TileRank>(rank);
    };
    SearchTilesOptions search;
    search.visits =
        std::max(1, options_.visits * best / std::max(1, options_.best));
    std::vector<int64_t> one;
    for (const std::vector<int64_t>& sizes : subtiles.sizes())
      one.push_back(sizes.front());
    TW_RETURN_IF_ERROR(SearchTiles(subtiles.sizes(), {one}, search, visit));
    std::vector<TilePlan> plans;
    const auto keep = [&](std::pair<LevelTiles, LevelCost>& tiles) {
      plans.push_back(
          {level, part, std::move(tiles.first), tiles.second, {}, 1});
    };
    for (auto& [rank, tiles] : found) keep(tiles);
    if (plans.empty()) keep(*smallest);
    return plans;
  }

  const TileGraph& graph_;
  const Rates rates_;
  const TilingOptions& options_;
  const int planned_;
  const std::vector<MemoryLevel> levels_;
};

}  // namespace

int PlannedLevels(const DeviceSpec& spec, const TilingOptions& options) {
  const int levels = spec.levels_size();
  const int asked = options.levels > 0 ? options.levels : levels - 2;
  return std::max(1, std::min(asked, levels - 1));
}

PlanCost CostOf(const TilePlan& plan, const DeviceSpec& spec) {
  return CostAt(plan, Rates(spec));
}

absl::StatusOr<std::vector<TilePlan>> TileSubgraph(
    const TileGraph& graph, const Subgraph& part, const DeviceSpec& spec,
    const TilingOptions& options) {
  return Tiler(graph, spec, options)
      .Run(part, 0, graph.graph().tensor(part.outputs.back()).static_shape(),
           options.best);
}

}  // namespace tilewright
