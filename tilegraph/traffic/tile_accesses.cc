// How members read others, worked out once.
#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include "base/check.h"
#include "tilegraph/traffic/tile_regions.h"

namespace tilewright {
namespace {

const RangeOf kNoRanges = [](int) -> std::optional<Range> {
  return std::nullopt;
};

}  // namespace

TileRegions::TileRegions(const TensorGraph& graph, const Subgraph& part,
                         TileBetween between)
    : graph_(graph),
      rank_(graph.tensor(part.outputs.back()).shape.size()),
      part_members_(part.members),
      slots_(part.inputs.size() + part.members.size()) {
  const auto slot_of = [&](TensorId id) -> std::optional<size_t> {
    const auto member =
        std::lower_bound(part.members.begin(), part.members.end(), id);
    if (member != part.members.end() && *member == id)
      return part.inputs.size() +
             static_cast<size_t>(member - part.members.begin());
    const auto input =
        std::lower_bound(part.inputs.begin(), part.inputs.end(), id);
    if (input == part.inputs.end() || *input != id) return std::nullopt;
    return static_cast<size_t>(input - part.inputs.begin());
  };
  for (const TensorId output : part.outputs)
    outputs_.push_back(*slot_of(output));
  for (auto id = part.members.rbegin(); id != part.members.rend(); ++id) {
    const Compute& compute = graph.tensor(*id).compute;
    Member member;
    member.slot = *slot_of(*id);
    member.buffered =
        between == TileBetween::kBuffers &&
        !std::binary_search(part.outputs.begin(), part.outputs.end(), *id);
    for (const Axis& axis : compute.axes)
      member.extents.push_back(axis.extent.value());
    for (const Axis& axis : compute.reduce_axes)
      member.reduce_extents.push_back(axis.extent.value());
    std::vector<Expr> loads;
    for (const Expr& body : compute.body) {
      Visit(body, [&](const Expr& e) {
        if (e.op() == Op::kLoad &&
            std::find(loads.begin(), loads.end(), e) == loads.end())
          loads.push_back(e);
      });
    }
    for (const Expr& load : loads) {
      const std::optional<size_t> slot = slot_of(load.source());
      if (!slot) {
        TW_CHECK(between == TileBetween::kNeeded);
        continue;
      }
      auto source =
          std::find_if(member.sources.begin(), member.sources.end(),
                       [&](const Source& s) { return s.slot == *slot; });
      if (source == member.sources.end()) {
        member.sources.push_back({*slot, load.operands().size(), {}});
        source = std::prev(member.sources.end());
      }
      source->accesses.push_back(
          Compile(load, static_cast<int>(member.extents.size() +
                                         member.reduce_extents.size())));
    }
    members_.push_back(std::move(member));
  }
}

TileRegions::Access TileRegions::Compile(const Expr& load, int axes) const {
  const std::vector<int64_t> shape =
      graph_.tensor(load.source()).static_shape();
  const size_t rank = load.operands().size();
  std::vector<std::optional<AffineIndex>> affine(rank);
  std::vector<std::set<int>> vars(rank);
  for (size_t d = 0; d < rank; ++d) {
    const Expr index = load.operands()[d];
    Visit(index, [&](const Expr& e) {
      if (e.op() == Op::kVar) vars[d].insert(e.var_id());
    });
    const LinearForm form = ToLinear(index, kNoRanges);
    AffineIndex linear{static_cast<int>(d), form.constant, {}};
    bool is_affine = true;
    for (const auto& [term, coefficient] : form.terms) {
      is_affine &= term.op() == Op::kVar && term.var_id() < axes;
      if (is_affine) linear.axes.emplace_back(term.var_id(), coefficient);
    }
    if (is_affine) affine[d] = std::move(linear);
  }
  Access access;
  std::vector<bool> done(rank, false);
  for (size_t first = 0; first < rank; ++first) {
    if (done[first]) continue;
    std::vector<int> dims = {static_cast<int>(first)};
    std::set<int> joint = vars[first];
    done[first] = true;
    for (bool grown = true; grown;) {
      grown = false;
      for (size_t d = first + 1; d < rank; ++d) {
        if (done[d] || std::none_of(vars[d].begin(), vars[d].end(),
                                    [&](int v) { return joint.count(v) > 0; }))
          continue;
        grown = done[d] = true;
        dims.push_back(static_cast<int>(d));
        joint.insert(vars[d].begin(), vars[d].end());
      }
    }
    std::sort(dims.begin(), dims.end());
    if (std::all_of(dims.begin(), dims.end(),
                    [&](int d) { return affine[d].has_value(); })) {
      for (const int d : dims) access.affine.push_back(*affine[d]);
      continue;
    }
    GeneralIndices general;
    general.dims = dims;
    for (const int d : dims) {
      general.indices.push_back(load.operands()[d]);
      general.shape.push_back(shape[d]);
    }
    general.axes.assign(joint.begin(), joint.end());
    access.general.push_back(std::move(general));
  }
  return access;
}

}  // namespace tilewright
