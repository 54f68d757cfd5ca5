// The oracle is Propagate, over expressions.
#include "tilegraph/traffic/tile_regions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/random.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/index_eval.h"
#include "tilegraph/testing/random_graph.h"
#include "tilegraph/text/text_form.h"
#include "tilegraph/traffic/region_sum.h"

namespace tilewright {
namespace {

struct Case {
  Region tile;  // of the outputs
  std::vector<int64_t> trips;
  std::map<TensorId, std::vector<int64_t>> steps;
};

Case RandomCase(const TensorGraph& graph, const Subgraph& part,
                Random& random) {
  Case result;
  const std::vector<int64_t> shape =
      graph.tensor(part.outputs[0]).static_shape();
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t extent = random.UniformInt(1, shape[d]);
    RegionDim dim;
    if (random.UniformInt(0, 3) == 0 && shape[d] % extent != 0) {
      dim.base = Expr::Int(shape[d] / extent * extent);
      dim.extent = shape[d] % extent;
      result.trips.push_back(1);
    } else {
      result.trips.push_back(shape[d] / extent);
      dim.base = result.trips[d] == 1
                     ? Expr::Int(0)
                     : Expr::Var(static_cast<int>(d), "t") * Expr::Int(extent);
      dim.extent = extent;
    }
    result.tile.push_back(dim);
  }
  for (const TensorId member : part.members) {
    const Compute& compute = graph.tensor(member).compute;
    if (compute.reduce_axes.empty() || random.UniformInt(0, 1) == 0) continue;
    for (const Axis& axis : compute.reduce_axes)
      result.steps[member].push_back(random.UniformInt(1, axis.extent.value()));
  }
  return result;
}

// By the definition, member by member: what a reader's tile needs is computed
// without gaps, and whole where it is no smaller than the tensor.
std::map<TensorId, Region> ByPropagate(const TensorGraph& graph,
                                       const Subgraph& part, const Case& one,
                                       const RangeOf& ranges) {
  std::map<TensorId, Region> regions;
  for (const TensorId output : part.outputs) regions[output] = one.tile;
  for (auto id = part.members.rbegin(); id != part.members.rend(); ++id) {
    if (!regions.count(*id)) continue;
    const Compute& compute = graph.tensor(*id).compute;
    Region axes = regions.at(*id);
    if (!std::count(part.outputs.begin(), part.outputs.end(), *id)) {
      for (size_t d = 0; d < axes.size(); ++d) {
        const int64_t extent = compute.axes[d].extent.value();
        const Range base = *RangeOfExpr(axes[d].base, ranges);
        int64_t& own = axes[d].extent;
        if (base.min == base.max) {
          // The elements that exist, if any do.
          int64_t first = base.min, count = own;
          while (count > 0 && first < 0) first += axes[d].step, --count;
          while (count > 0 && first + (count - 1) * axes[d].step >= extent)
            --count;
          if (count > 0) axes[d].base = Expr::Int(first), own = count;
        }
        if (own > 1) own = (own - 1) * axes[d].step + 1, axes[d].step = 1;
        if (own >= extent) axes[d] = {Expr::Int(0), extent, 1, true, ""};
      }
      regions[*id] = axes;
    }
    const auto steps = one.steps.find(*id);
    for (size_t r = 0; r < compute.reduce_axes.size(); ++r)
      axes.push_back({Expr::Int(0),
                      steps == one.steps.end()
                          ? compute.reduce_axes[r].extent.value()
                          : steps->second[r],
                      1, true, ""});
    const auto needed = PropagateOne(graph, *id, axes, ranges);
    EXPECT_TRUE(needed.ok()) << needed.status();
    for (const auto& [source, region] : *needed) {
      const auto [known, inserted] = regions.emplace(source, region);
      if (!inserted) known->second = Join(known->second, region, ranges);
    }
  }
  return regions;
}

// Clipped, tile by tile.
double Elements(const Region& region, const std::vector<int64_t>& shape,
                const std::vector<TileCondition>& conditions,
                const TileRegions& regions, const std::vector<int64_t>& trips) {
  int64_t tiles = 1;
  for (const int64_t count : trips) tiles *= count;
  double sum = 0;
  for (int64_t i = 0; i < tiles; ++i) {
    std::vector<int64_t> tile;
    int64_t rest = i;
    for (const int64_t count : trips) {
      tile.push_back(rest % count);
      rest /= count;
    }
    const auto inside = [&](const RegionDim& dim, int64_t size) {
      const int64_t base =
          EvalIndex(dim.base, [&](int var) { return tile[var]; });
      int64_t count = 0;
      for (int64_t k = 0; k < dim.extent; ++k) {
        const int64_t at = base + k * dim.step;
        count += at >= 0 && at < size;
      }
      return count;
    };
    double product = 1;
    for (size_t d = 0; d < region.size(); ++d)
      product *= static_cast<double>(inside(region[d], shape[d]));
    for (const TileCondition& condition : conditions) {
      if (inside(regions.AsRegionDim(condition.span), condition.size) == 0)
        product = 0;
    }
    sum += product;
  }
  return sum;
}

TEST(TileRegionsTest, AreThoseOfPropagate) {
  int affine = 0, other = 0, clipped = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    const TensorGraph graph = RandomGraph(seed, {});
    std::vector<TensorId> members;
    for (const Tensor& tensor : graph.tensors()) {
      if (tensor.kind == TensorKind::kCompute) members.push_back(tensor.id);
    }
    const TileGraph tiles(graph, members);
    const Subgraph part = tiles.SubgraphOf(members);
    if (part.outputs.size() != 1) continue;
    TileRegions regions(graph, part);
    std::vector<TileNeed> needs;
    Random random(seed);
    for (int repeat = 0; repeat < 4; ++repeat) {
      const Case one = RandomCase(graph, part, random);
      const RangeOf ranges = [&](int var) -> std::optional<Range> {
        return Range{0, one.trips[var] - 1};
      };
      const std::map<TensorId, Region> expected =
          ByPropagate(graph, part, one, ranges);
      TileBox tile;
      for (const RegionDim& dim : one.tile)
        tile.push_back(regions.AsSpan(dim, one.trips));
      regions.Of(tile, one.trips, one.steps, needs);
      std::vector<TensorId> tensors = part.inputs;
      tensors.insert(tensors.end(), part.members.begin(), part.members.end());
      ASSERT_EQ(needs.size(), tensors.size());
      for (size_t slot = 0; slot < tensors.size(); ++slot) {
        const Region& region = expected.at(tensors[slot]);
        ASSERT_EQ(needs[slot].box.size(), region.size());
        for (size_t d = 0; d < region.size(); ++d) {
          const TileSpan& span = needs[slot].box[d];
          EXPECT_EQ(span.extent, region[d].extent);
          EXPECT_EQ(span.step, region[d].step);
          const LinearForm distance =
              ToLinear(regions.AsRegionDim(span).base - region[d].base, ranges);
          EXPECT_TRUE(distance.terms.empty() && distance.constant == 0)
              << "seed " << seed << ", tensor " << tensors[slot] << ", "
              << regions.AsRegionDim(span).base.ToString() << " for "
              << region[d].base.ToString() << "\n"
              << PrintText(graph);
          ++(span.others.empty() ? affine : other);
        }
        const std::vector<int64_t> shape =
            graph.tensor(tensors[slot]).static_shape();
        const double elements =
            Elements(region, shape, needs[slot].conditions, regions, one.trips);
        EXPECT_EQ(SumOfElements(needs[slot], shape, one.trips, regions),
                  elements)
            << "seed " << seed << ", tensor " << tensors[slot];
        double unclipped = 1;
        for (const TileSpan& span : needs[slot].box)
          unclipped *= static_cast<double>(span.extent);
        for (const int64_t count : one.trips)
          unclipped *= static_cast<double>(count);
        clipped += unclipped != elements;
      }
    }
  }
  EXPECT_GT(affine, 10000);
  EXPECT_GT(other, 100);
  EXPECT_GT(clipped, 100);
}

}  // namespace
}  // namespace tilewright
