#include "tilegraph/region/region.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "tilegraph/expr/non_negative.h"
#include "tilegraph/region/region_impl.h"

namespace tilewright {
namespace region_internal {
namespace {

// form = scale · x + k with form >= 0 for every x in [0, extent).
bool FollowsFrom(const LinearForm& form, const Expr& index, int64_t extent,
                 const RangeOf& ranges) {
  LinearForm x = ToLinear(index, ranges);
  if (form.terms.empty() || x.terms.size() != form.terms.size() ||
      form.terms[0].second % x.terms[0].second != 0)
    return false;
  int64_t scale = form.terms[0].second / x.terms[0].second;
  LinearForm rest = ToLinear(form.ToExpr() - index * Expr::Int(scale), ranges);
  return rest.terms.empty() &&
         rest.constant + std::min<int64_t>(0, scale * (extent - 1)) >= 0;
}

}  // namespace

std::string WhyGuarded(absl::Span<const Expr> guards,
                       absl::Span<const Expr> indices,
                       absl::Span<const int64_t> shape,
                       absl::Span<const int64_t> axis_extents,
                       const TileOfAxes& tile) {
  RangeOf axis_ranges = [&](int id) { return Range{0, axis_extents[id] - 1}; };
  std::vector<Expr> pending(guards.begin(), guards.end());
  while (!pending.empty()) {
    Expr guard = Simplify(pending.back(), axis_ranges);
    pending.pop_back();
    if (guard.op() == Op::kAnd) {
      pending.push_back(guard.operand(0));
      pending.push_back(guard.operand(1));
      continue;
    }
    if (guard.IsIntConst(1) ||
        Simplify(tile.Substitute(guard), tile.ranges()).IsIntConst(1))
      continue;
    std::optional<LinearForm> form = AsNonNegative(guard, axis_ranges);
    bool implied = false;
    for (size_t d = 0; form && d < indices.size() && !implied; ++d)
      implied = FollowsFrom(*form, indices[d], shape[d], axis_ranges);
    if (!implied) return "guarded by " + guard.ToString();
  }
  return "";
}

void MarkHull(Region& region, const std::string& why) {
  for (RegionDim& dim : region) {
    if (dim.exact) dim.why = why;
    dim.exact = false;
  }
}

namespace {

struct GuardedLoad {
  Expr load;
  std::vector<Expr> guards;
};

void CollectLoads(const Expr& e, std::vector<Expr>& guards,
                  std::vector<GuardedLoad>& loads) {
  if (e.op() == Op::kSelect) {
    CollectLoads(e.operand(0), guards, loads);
    guards.push_back(e.operand(0));
    CollectLoads(e.operand(1), guards, loads);
    guards.back() = Expr::Make(Op::kNot, {e.operand(0)});
    CollectLoads(e.operand(2), guards, loads);
    guards.pop_back();
    return;
  }
  for (const Expr& operand : e.operands()) CollectLoads(operand, guards, loads);
  if (e.op() == Op::kLoad) loads.push_back({e, guards});
}

// Where b starts, seen from a; nullopt if that is no constant.
std::optional<int64_t> Distance(const RegionDim& a, const RegionDim& b,
                                const RangeOf& ranges) {
  LinearForm form = ToLinear(b.base - a.base, ranges);
  if (!form.terms.empty()) return std::nullopt;
  return form.constant;
}

std::vector<std::optional<int64_t>> Distances(const Region& a, const Region& b,
                                              const RangeOf& ranges) {
  std::vector<std::optional<int64_t>> distances;
  for (size_t d = 0; d < a.size(); ++d)
    distances.push_back(Distance(a[d], b[d], ranges));
  return distances;
}

// Whether b's elements are a's too; `d` is the distance from a to b.
bool Holds(const RegionDim& a, const RegionDim& b, std::optional<int64_t> d) {
  if (!d || *d < 0 || *d % a.step != 0) return false;
  if (b.extent > 1 && b.step % a.step != 0) return false;
  return *d + (b.extent - 1) * b.step <= (a.extent - 1) * a.step;
}

bool Holds(const Region& a, const Region& b,
           const std::vector<std::optional<int64_t>>& distances) {
  for (size_t d = 0; d < a.size(); ++d) {
    if (!Holds(a[d], b[d], distances[d])) return false;
  }
  return true;
}

// Hull of both; exact if nothing but their elements is in it. `distance` is
// that from a to b, `back` that from b to a.
RegionDim JoinDim(const RegionDim& a, const RegionDim& b,
                  std::optional<int64_t> distance, std::optional<int64_t> back,
                  const RangeOf& ranges) {
  RegionDim joined;
  joined.exact = a.exact && b.exact;
  joined.why = a.exact ? b.why : a.why;
  if (!distance) {
    std::optional<Range> range = RangeOfExpr(b.base - a.base, ranges);
    std::optional<Range> whole_a = RangeOfExpr(a.base, ranges),
                         whole_b = RangeOfExpr(b.base, ranges);
    joined.exact = false;
    joined.why = "the distance of joined regions varies";
    int64_t last_a = (a.extent - 1) * a.step, last_b = (b.extent - 1) * b.step;
    if (range) {
      int64_t low = std::min<int64_t>(0, range->min);
      joined.base = Simplify(a.base + Expr::Int(low), ranges);
      joined.extent = std::max(last_a, range->max + last_b) - low + 1;
      return joined;
    }
    TW_CHECK(whole_a && whole_b)
        << "joined regions need bounded bases: " << a.base.ToString() << " and "
        << b.base.ToString();
    joined.base = Expr::Int(std::min(whole_a->min, whole_b->min));
    joined.extent = std::max(whole_a->max + last_a, whole_b->max + last_b) -
                    std::min(whole_a->min, whole_b->min) + 1;
    return joined;
  }
  if (Holds(a, b, distance)) return a;
  if (Holds(b, a, back)) return b;
  const RegionDim &first = *distance < 0 ? b : a,
                  &second = *distance < 0 ? a : b;
  int64_t gap = std::abs(*distance);
  int64_t step = gap;
  if (first.extent > 1) step = std::gcd(step, first.step);
  if (second.extent > 1) step = std::gcd(step, second.step);
  int64_t last_first = (first.extent - 1) * first.step,
          last_second = gap + (second.extent - 1) * second.step;
  joined.base = first.base;
  joined.step = std::max<int64_t>(step, 1);
  joined.extent = std::max(last_first, last_second) / joined.step + 1;
  bool same_step = (first.extent == 1 || first.step == joined.step) &&
                   (second.extent == 1 || second.step == joined.step);
  bool interleaved = first.extent == second.extent &&
                     first.step == second.step && first.step == 2 * gap;
  if (joined.exact && !interleaved &&
      !(same_step && gap <= last_first + joined.step)) {
    joined.exact = false;
    joined.why = "joined regions leave a gap";
  }
  return joined;
}

// The part of a tile of `extent` elements along one axis that exists. Bases
// that vary keep it as a hull.
RegionDim Clip(RegionDim dim, int64_t extent, const RangeOf& ranges) {
  std::optional<Range> base = RangeOfExpr(dim.base, ranges);
  int64_t last = (dim.extent - 1) * dim.step;
  if (base && base->min >= 0 && base->max + last < extent) return dim;
  if (base && base->min == base->max) {
    int64_t skipped =
        base->min < 0 ? (-base->min + dim.step - 1) / dim.step : 0;
    int64_t first = base->min + skipped * dim.step;
    int64_t kept =
        std::min(dim.extent - skipped, (extent - 1 - first) / dim.step + 1);
    if (kept >= 1 && first < extent) {
      dim.base = Expr::Int(first);
      dim.extent = kept;
      return dim;
    }
  }
  if (dim.exact) dim.why = "the tile reaches outside";
  dim.exact = false;
  return dim;
}

}  // namespace
}  // namespace region_internal

using namespace region_internal;  // NOLINT: the parts of this file

Region Join(const Region& a, const Region& b, const RangeOf& ranges) {
  TW_CHECK_EQ(a.size(), b.size());
  const std::vector<std::optional<int64_t>> there = Distances(a, b, ranges);
  if (Holds(a, b, there)) return a;
  const std::vector<std::optional<int64_t>> back = Distances(b, a, ranges);
  if (Holds(b, a, back)) return b;
  Region joined;
  int differing = 0;
  for (size_t d = 0; d < a.size(); ++d) {
    differing += !(Holds(a[d], b[d], there[d]) && Holds(b[d], a[d], back[d]));
    joined.push_back(JoinDim(a[d], b[d], there[d], back[d], ranges));
  }
  // Two boxes that differ along more than one dimension make no box.
  if (differing > 1)
    MarkHull(joined, "joined regions differ along several dimensions");
  return joined;
}

Region RegionOfIndices(absl::Span<const Expr> indices,
                       absl::Span<const int64_t> shape,
                       absl::Span<const RegionDim> axes,
                       const RangeOf& ranges) {
  return RegionOfLoad(indices, shape, TileOfAxes{axes, ranges});
}

namespace {

// Regions of the tensors in `sources`; null: of all that the compute loads.
absl::StatusOr<std::map<TensorId, Region>> RegionsOfLoads(
    const TensorGraph& graph, TensorId id, absl::Span<const RegionDim> axes,
    const std::set<TensorId>* sources, const RangeOf& ranges) {
  if (id < 0 || id >= graph.size() ||
      graph.tensor(id).kind != TensorKind::kCompute) {
    return absl::InvalidArgumentError(
        absl::StrCat("region: tensor ", id, " is no compute"));
  }
  const Tensor& tensor = graph.tensor(id);
  const Compute& compute = tensor.compute;
  std::vector<int64_t> extents;
  for (const auto* list : {&compute.axes, &compute.reduce_axes}) {
    for (const Axis& axis : *list) extents.push_back(axis.extent.value());
  }
  if (axes.size() != extents.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("region: ", tensor.name, " has ", extents.size(),
                     " axes, its tile ", axes.size()));
  }
  for (const RegionDim& axis : axes) {
    if (axis.extent < 1 || axis.step < 1)
      return absl::InvalidArgumentError(
          absl::StrCat("region: an empty tile of ", tensor.name));
  }
  std::vector<GuardedLoad> loads;
  std::vector<Expr> guards;
  for (const Expr& body : compute.body) CollectLoads(body, guards, loads);
  if (sources != nullptr) {
    loads.erase(std::remove_if(loads.begin(), loads.end(),
                               [&](const GuardedLoad& load) {
                                 return sources->count(load.load.source()) == 0;
                               }),
                loads.end());
  }
  TileOfAxes tile{axes, ranges};
  std::map<TensorId, Region> regions;
  std::vector<Region> of_loads;
  for (size_t i = 0; i < loads.size(); ++i) {
    const GuardedLoad& load = loads[i];
    const auto region_of = [&] {
      for (size_t j = 0; j < i; ++j) {
        if (loads[j].load == load.load && loads[j].guards == load.guards)
          return of_loads[j];
      }
      const std::vector<int64_t> shape =
          graph.tensor(load.load.source()).static_shape();
      Region region = RegionOfLoad(load.load.operands(), shape, tile);
      const std::string why =
          WhyGuarded(load.guards, load.load.operands(), shape, extents, tile);
      if (!why.empty()) MarkHull(region, why);
      return region;
    };
    const Region& region = of_loads.emplace_back(region_of());
    auto [known, inserted] = regions.emplace(load.load.source(), region);
    if (!inserted) known->second = Join(known->second, region, ranges);
  }
  return regions;
}

}  // namespace

absl::StatusOr<std::map<TensorId, Region>> PropagateOne(
    const TensorGraph& graph, TensorId id, absl::Span<const RegionDim> axes,
    const RangeOf& ranges) {
  return RegionsOfLoads(graph, id, axes, nullptr, ranges);
}

absl::StatusOr<std::map<TensorId, Region>> PropagateTo(
    const TensorGraph& graph, TensorId id, absl::Span<const RegionDim> axes,
    const std::set<TensorId>& sources, const RangeOf& ranges) {
  return RegionsOfLoads(graph, id, axes, &sources, ranges);
}

absl::StatusOr<std::map<TensorId, Region>> Propagate(
    const TensorGraph& graph, const std::map<TensorId, Region>& tiles,
    absl::Span<const TensorId> inside,
    const std::map<TensorId, Region>& reduce_tiles, const RangeOf& ranges) {
  std::map<TensorId, Region> regions = tiles;
  std::vector<TensorId> order(inside.begin(), inside.end());
  std::sort(order.rbegin(), order.rend());  // users before what they use
  for (TensorId id : order) {
    auto found = regions.find(id);
    if (found == regions.end() || id < 0 || id >= graph.size() ||
        graph.tensor(id).kind != TensorKind::kCompute)
      continue;
    const Compute& compute = graph.tensor(id).compute;
    if (found->second.size() != compute.axes.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "region: ", graph.tensor(id).name, " has ", compute.axes.size(),
          " axes, its tile ", found->second.size()));
    }
    Region axes;
    for (size_t d = 0; d < compute.axes.size(); ++d)
      axes.push_back(
          Clip(found->second[d], compute.axes[d].extent.value(), ranges));
    auto reduce = reduce_tiles.find(id);
    if (reduce != reduce_tiles.end()) {
      axes.insert(axes.end(), reduce->second.begin(), reduce->second.end());
    } else {
      for (const Axis& axis : compute.reduce_axes)
        axes.push_back({Expr::Int(0), axis.extent.value(), 1, true, ""});
    }
    absl::StatusOr<std::map<TensorId, Region>> needed =
        PropagateOne(graph, id, axes, ranges);
    if (!needed.ok()) return needed.status();
    for (auto& [source, region] : *needed) {
      auto [known, inserted] = regions.emplace(source, region);
      if (!inserted) known->second = Join(known->second, region, ranges);
    }
  }
  return regions;
}

std::string ToString(const Region& region) {
  std::string text = "[";
  for (size_t d = 0; d < region.size(); ++d) {
    const RegionDim& dim = region[d];
    absl::StrAppend(&text, d ? ", " : "",
                    dim.base.IsIntConst(0) ? "" : dim.base.ToString() + " + ",
                    "0..", dim.extent);
    if (dim.step != 1) absl::StrAppend(&text, " step ", dim.step);
    if (!dim.exact) absl::StrAppend(&text, " (hull: ", dim.why, ")");
  }
  return text + "]";
}

}  // namespace tilewright
