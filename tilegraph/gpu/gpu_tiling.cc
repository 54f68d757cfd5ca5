#include "tilegraph/gpu/gpu_tiling.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tilegraph/cost/search_tiles.h"
#include "tilegraph/gpu/block_remap.h"
#include "tilegraph/gpu/gpu_tile_evaluator.h"
#include "tilegraph/gpu/planned_block.h"

namespace tilewright {
namespace {

constexpr int64_t kLargestPart = 4096;
constexpr int64_t kSteps[] = {16, 32, 64};
constexpr double kOverlapSeconds = 1e6;  // more than any tile that may be

class Tiler {
 public:
  Tiler(const TensorGraph& graph, const Subgraph& part, const ComputeUnit& unit,
        GpuTileEvaluator& evaluator, const GpuTilingOptions& options)
      : graph_(graph),
        part_(part),
        unit_(unit),
        evaluator_(evaluator),
        options_(options) {
    for (const int64_t extent :
         graph.tensor(part.outputs.back()).static_shape())
      sizes_.push_back(GpuTileSizes(extent));
    for (const GpuMember& member : evaluator.part().members) {
      if (member.stepped_axis < 0) continue;
      longest_ =
          std::max(longest_, graph.tensor(member.id)
                                 .compute.reduce_axes[member.stepped_axis]
                                 .extent.value());
    }
  }

  absl::Status Run() {
    SearchTilesOptions search;
    search.visits = options_.visits;
    search.patience = options_.patience;
    std::vector<int64_t> smallest;
    for (const std::vector<int64_t>& sizes : sizes_)
      smallest.push_back(sizes.front());
    return SearchTiles(
        sizes_, {smallest}, search,
        [&](const std::vector<int64_t>& tile) { return Visit(tile); });
  }

  // Tiles that fit, but would write parts of outputs twice.
  bool overlap() const { return overlap_; }

  // The best choices with their rows and blocks in order, best first.
  absl::StatusOr<std::vector<GpuTilePlan>> Best() {
    const auto cheaper = [](const GpuTilePlan& a, const GpuTilePlan& b) {
      return a.cost.seconds < b.cost.seconds;
    };
    std::vector<GpuTilePlan> plans;
    for (const Found* found : {&found_, &found_in_slices_}) {
      std::vector<GpuTilePlan> of_kind;
      for (const auto& [rank, decision] : *found) {
        TW_ASSIGN_OR_RETURN(std::optional<GpuTilePlan> plan,
                            evaluator_.Align(decision));
        if (plan) of_kind.push_back(*std::move(plan));
      }
      std::stable_sort(of_kind.begin(), of_kind.end(), cheaper);
      if (static_cast<int>(of_kind.size()) > options_.best)
        of_kind.resize(options_.best);
      std::move(of_kind.begin(), of_kind.end(), std::back_inserter(plans));
    }
    std::stable_sort(plans.begin(), plans.end(), cheaper);
    for (GpuTilePlan& plan : plans) {
      for (const TensorId member : part_.members) {
        absl::StatusOr<BlockRemap> remap =
            RemapOf(graph_, evaluator_.tiled(), plan.tile, member);
        plan.remaps.emplace_back();
        if (remap.ok()) plan.remaps.back() = *std::move(remap);
      }
      plan.block = PlannedBlock(plan);
      if (plan.block) LoadAhead(plan, unit_, *plan.block);
    }
    return plans;
  }

 private:
  // All ways to compute a tile; the best one's seconds and bytes.
  absl::StatusOr<std::optional<TileRank>> Visit(
      const std::vector<int64_t>& tile) {
    TW_ASSIGN_OR_RETURN(const TileWork* work, evaluator_.Work(tile));
    const bool partitions = evaluator_.Partitions(tile);
    std::vector<int64_t> steps = {0};
    for (const int64_t step : kSteps)
      if (step < longest_) steps.push_back(step);
    std::optional<TileRank> best;
    // Whether it fits.
    const auto visit = [&](int64_t step, int64_t threads,
                           int64_t slices) -> absl::StatusOr<bool> {
      for (const bool twice : {true, false}) {
        if (twice && (step == 0 || !options_.use.second_buffers)) continue;
        const GpuTileDecision decision{
            tile, step, threads, twice, options_.use.matrix, slices};
        TW_ASSIGN_OR_RETURN(const GpuTilePlan* const plan,
                            evaluator_.Evaluate(decision));
        if (plan == nullptr) continue;
        const TileRank rank = {plan->cost.seconds, plan->cost.near_bytes};
        if (!best || rank < *best) best = rank;
        if (partitions) Keep({rank, tile}, decision);
        return true;  // if with a second buffer: one would be no better
      }
      return false;
    };
    for (const int64_t step : steps) {
      bool fits = false;
      for (const int64_t threads : evaluator_.ThreadsFor(*work, step)) {
        for (const int64_t slices :
             evaluator_.SlicesFor(*work, step, threads)) {
          TW_ASSIGN_OR_RETURN(const bool with_these,
                              visit(step, threads, slices));
          fits |= with_these;
        }
      }
      // Threads that have no use but for their registers.
      for (int64_t threads = unit_.warp_size();
           !fits && threads <= unit_.max_threads_per_block(); threads *= 2) {
        TW_ASSIGN_OR_RETURN(fits, visit(step, threads, 1));
      }
    }
    if (best && !partitions) {
      overlap_ = true;
      best->first += kOverlapSeconds;  // larger ones may lie side by side
    }
    return best;
  }

  void Keep(std::pair<TileRank, std::vector<int64_t>> rank,
            const GpuTileDecision& decision) {
    Found& found =
        decision.step == 0 && decision.slices > 1 ? found_in_slices_ : found_;
    found.emplace(std::move(rank), decision);
    // Some of them lose by bank conflicts.
    if (found.size() > 4 * static_cast<size_t>(std::max(1, options_.best)))
      found.erase(std::prev(found.end()));
  }

  const TensorGraph& graph_;
  const Subgraph& part_;
  const ComputeUnit& unit_;
  GpuTileEvaluator& evaluator_;
  const GpuTilingOptions& options_;
  std::vector<std::vector<int64_t>> sizes_;
  int64_t longest_ = 0;  // of the stepped axes
  using Found =
      std::multimap<std::pair<TileRank, std::vector<int64_t>>, GpuTileDecision>;
  // Slices of all terms at once apart: what they load, and when, costs more as
  // it comes out than as planned, and they would leave no others.
  Found found_, found_in_slices_;
  bool overlap_ = false;
};

}  // namespace

std::vector<int64_t> GpuTileSizes(int64_t extent) {
  std::vector<int64_t> sizes = {extent};
  for (int64_t size = 1; size <= std::min(extent, kLargestPart); size *= 2)
    sizes.push_back(size);
  for (int64_t size = 1; size <= std::min(extent, kLargestPart); ++size)
    if (extent % size == 0) sizes.push_back(size);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

absl::StatusOr<std::vector<GpuTilePlan>> TileForGpu(
    const TileGraph& graph, const Subgraph& part, const DeviceSpec& spec,
    const GpuTilingOptions& options) {
  if (!GpuLevelsOf(spec))
    return absl::InvalidArgumentError(
        absl::StrCat("spec '", spec.name(), "' has no cores with scratchpads"));
  GpuTileEvaluator evaluator(graph, part, spec, options.use);
  Tiler tiler(graph.graph(), part, spec.unit(), evaluator, options);
  TW_RETURN_IF_ERROR(tiler.Run());
  TW_ASSIGN_OR_RETURN(std::vector<GpuTilePlan> plans, tiler.Best());
  const std::string& output = graph.graph().tensor(part.outputs.back()).name;
  if (plans.empty() && tiler.overlap())
    return absl::FailedPreconditionError(
        absl::StrCat("no tiles of '", output,
                     "' fit that write what others read too but once"));
  if (plans.empty())
    return absl::ResourceExhaustedError(
        absl::StrCat("not even one element at a time of '", output,
                     "' fits into ", spec.name()));
  return plans;
}

}  // namespace tilewright
