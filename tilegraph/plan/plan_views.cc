#include <algorithm>
#include <optional>
#include <utility>

#include "tilegraph/analysis/access.h"
#include "tilegraph/expr/simplify.h"
#include "tilegraph/plan/plan_draft.h"
#include "tilegraph/rewrite/bands/bands.h"

namespace tilewright {
namespace {

bool MayBeView(const PlanDraft& draft, TensorId id) {
  return draft.IsCompute(id) && !draft.is_output[id] && !draft.IsView(id) &&
         !draft.apart.count(id) && !IsBandMove(draft.graph.tensor(id));
}

void ViewMoves(PlanDraft& draft) {
  for (const Tensor& tensor : draft.graph.tensors()) {
    if (!MayBeView(draft, tensor.id)) continue;
    std::optional<Move> move = AsMove(draft.graph, tensor.id);
    // Constants are packed as their readers want them.
    if (!move || draft.graph.tensor(draft.Root(move->source)).kind ==
                     TensorKind::kConstant)
      continue;
    draft.views[tensor.id] = {move->source, std::move(move->index)};
  }
}

// The dimension of the view that `index`, an index of its source, is up to a
// constant; -1 if it is something else.
int DimensionOf(const Expr& index, const std::vector<int64_t>& shape,
                int64_t* constant) {
  const LinearForm form = ToLinear(index, [&](int var) {
    return Range{0, shape[var] - 1};
  });
  *constant = form.constant;
  if (form.terms.size() != 1 || form.terms[0].second != 1 ||
      form.terms[0].first.op() != Op::kVar)
    return -1;
  return form.terms[0].first.var_id();
}

// The halo that the source of `id`'s view needs for `id` to have `halo`;
// nullopt if the view does not reach to an end where there is one, or mixes
// such a dimension with others.
std::optional<Halo> HaloOfSource(const PlanDraft& draft, TensorId id,
                                 const Halo& halo) {
  const View& view = draft.views.at(id);
  const std::vector<int64_t> shape = draft.graph.tensor(id).static_shape();
  const std::vector<int64_t> source =
      draft.graph.tensor(view.source).static_shape();
  Halo wanted{std::vector<int64_t>(source.size(), 0),
              std::vector<int64_t>(source.size(), 0)};
  std::vector<bool> found(shape.size(), false);
  for (size_t d = 0; d < source.size(); ++d) {
    int64_t first;
    const int dim = DimensionOf(view.index[d], shape, &first);
    if (dim < 0) continue;
    const int64_t beyond = first + shape[dim] - source[d];
    if ((halo.before[dim] > 0 && first > 0) ||
        (halo.after[dim] > 0 && beyond < 0))
      return std::nullopt;
    found[dim] = true;
    if (halo.before[dim] > 0) wanted.before[d] = halo.before[dim] - first;
    if (halo.after[dim] > 0) wanted.after[d] = halo.after[dim] + beyond;
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    if (halo.before[d] + halo.after[d] > 0 && !found[d]) return std::nullopt;
  }
  return wanted;
}

// Whether every view of `id` takes the dimensions that get a halo as they are;
// the others would be torn apart by it.
bool ViewsAllow(const PlanDraft& draft, TensorId id, const Halo& halo) {
  for (const TensorId consumer : draft.consumers[id]) {
    const auto view = draft.views.find(consumer);
    if (view == draft.views.end()) continue;
    const std::vector<int64_t> shape =
        draft.graph.tensor(consumer).static_shape();
    for (size_t d = 0; d < halo.before.size(); ++d) {
      int64_t constant;
      if (halo.before[d] + halo.after[d] > 0 &&
          DimensionOf(view->second.index[d], shape, &constant) < 0)
        return false;
    }
  }
  return true;
}

// The halo of the tensor in whose memory `id` lies, if it can have one.
std::optional<std::pair<TensorId, Halo>> HaloOfRoot(const PlanDraft& draft,
                                                    TensorId id, Halo halo) {
  while (ViewsAllow(draft, id, halo)) {
    if (!draft.IsView(id)) {
      if (!draft.IsCompute(id) || draft.is_output[id]) return std::nullopt;
      return std::make_pair(id, std::move(halo));
    }
    std::optional<Halo> wanted = HaloOfSource(draft, id, halo);
    if (!wanted) return std::nullopt;
    halo = *std::move(wanted);
    id = draft.views.at(id).source;
  }
  return std::nullopt;
}

// Gives `id` at least that halo.
void Widen(PlanDraft& draft, TensorId id, const Halo& by) {
  Halo& halo = draft.halos.try_emplace(id, by).first->second;
  for (size_t i = 0; i < by.before.size(); ++i) {
    halo.before[i] = std::max(halo.before[i], by.before[i]);
    halo.after[i] = std::max(halo.after[i], by.after[i]);
  }
}

void ViewPaddings(PlanDraft& draft) {
  for (const Tensor& tensor : draft.graph.tensors()) {
    if (!MayBeView(draft, tensor.id)) continue;
    const std::optional<ZeroPadding> padding =
        AsZeroPadding(draft.graph, tensor.id);
    if (!padding) continue;
    const std::optional<std::pair<TensorId, Halo>> root =
        HaloOfRoot(draft, padding->source, {padding->before, padding->after});
    if (!root) continue;
    View view{padding->source, {}, /*padding=*/true};
    for (size_t d = 0; d < padding->before.size(); ++d)
      view.index.push_back(
          Expr::Var(static_cast<int>(d), tensor.compute.axes[d].name) -
          Expr::Int(padding->before[d]));
    draft.views[tensor.id] = std::move(view);
    Widen(draft, root->first, root->second);
  }
}

// A part of a concatenation and what a group computes of it: the part itself,
// or what it is a view of.
struct Placed {
  TensorId computed;
  std::vector<Expr> index;  // of the part, over the axes of `computed`
};

// What `placed` is a view of, if that has the same extents in the same order,
// apart from those of one.
std::optional<Placed> BehindView(const PlanDraft& draft, const Placed& placed) {
  const View& view = draft.views.at(placed.computed);
  const Tensor& source = draft.graph.tensor(view.source);
  // A plain copy is there for its source to lie otherwise.
  if (view.padding || source.kind != TensorKind::kCompute ||
      draft.graph.tensor(placed.computed).hint.role() ==
          ComputeRole::kPlainCopy)
    return std::nullopt;
  const std::vector<int64_t> shape =
      draft.graph.tensor(placed.computed).static_shape();
  const std::vector<int64_t> extents = source.static_shape();
  const auto first_of_one = [&](int dim) {
    return shape[dim] == 1 ? Expr::Int(0) : Expr();
  };
  std::vector<Expr> index(shape.size(), Expr::Int(0));
  int last = -1;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 1) continue;
    int64_t first;
    const int dim =
        DimensionOf(Substitute(view.index[d], first_of_one), shape, &first);
    if (dim <= last || shape[dim] != extents[d]) return std::nullopt;
    index[dim] = Expr::Var(static_cast<int>(d), source.compute.axes[d].name);
    last = dim;
  }
  if (source.num_elements() !=
      draft.graph.tensor(placed.computed).num_elements())
    return std::nullopt;
  Placed behind{view.source, placed.index};
  for (Expr& e : behind.index)
    e = Substitute(e, [&](int dim) { return index[dim]; });
  return behind;
}

// Whether the elements that lie side by side in `whole` do so in each part.
bool KeepsRuns(const Tensor& whole, int axis, const Tensor& part) {
  return axis + 1 < static_cast<int>(whole.shape.size()) ||
         part.shape[axis].value() > 1;
}

// Whether a group can write it, or its parts where it has some, into a part of
// `whole`, which then has its halo.
bool MayBePlaced(const PlanDraft& draft, TensorId id, TensorId whole,
                 int axis) {
  if (!draft.IsCompute(id) || draft.IsView(id) || draft.is_output[id] ||
      draft.places.count(id))
    return false;
  const auto halo = draft.halos.find(id);
  return halo == draft.halos.end() ||
         (halo->second.before[axis] + halo->second.after[axis] == 0 &&
          !draft.is_output[whole] && ViewsAllow(draft, whole, halo->second));
}

// What a group is to write into `part` of `whole`; nullopt: none can.
std::optional<Placed> PlacedAs(const PlanDraft& draft, TensorId part,
                               TensorId whole, int axis) {
  const Tensor& tensor = draft.graph.tensor(part);
  if (tensor.kind != TensorKind::kCompute) return std::nullopt;
  if (draft.IsView(part) && !KeepsRuns(draft.graph.tensor(whole), axis, tensor))
    return std::nullopt;
  Placed placed{part, {}};
  for (size_t d = 0; d < tensor.shape.size(); ++d)
    placed.index.push_back(
        Expr::Var(static_cast<int>(d), tensor.compute.axes[d].name));
  while (draft.IsView(placed.computed)) {
    std::optional<Placed> behind = BehindView(draft, placed);
    if (!behind || draft.halos.count(behind->computed)) return std::nullopt;
    placed = *std::move(behind);
  }
  if (!MayBePlaced(draft, placed.computed, whole, axis)) return std::nullopt;
  return placed;
}

void PlaceParts(PlanDraft& draft) {
  for (const Tensor& tensor : draft.graph.tensors()) {
    if (!draft.IsCompute(tensor.id) || draft.places.count(tensor.id)) continue;
    const std::optional<Concatenation> whole =
        AsConcatenation(draft.graph, tensor.id);
    if (!whole) continue;
    std::map<TensorId, View> places;
    std::vector<TensorId> parts;
    for (const Concatenation::Part& part : whole->parts) {
      std::optional<Placed> placed =
          PlacedAs(draft, part.source, tensor.id, whole->axis);
      if (!placed || places.count(placed->computed)) break;
      Expr& along = placed->index[whole->axis];
      along = along + Expr::Int(part.offset);
      places[placed->computed] = {tensor.id, std::move(placed->index)};
      parts.push_back(placed->computed);
    }
    if (parts.size() != whole->parts.size()) continue;
    for (const TensorId part : parts) {
      const auto halo = draft.halos.find(part);
      if (halo == draft.halos.end()) continue;
      Widen(draft, tensor.id, halo->second);
      draft.halos.erase(halo);
    }
    draft.places.merge(places);
    draft.parts_of[tensor.id] = std::move(parts);
  }
}

}  // namespace

void ChooseViews(PlanDraft& draft) {
  ViewMoves(draft);
  ViewPaddings(draft);
  PlaceParts(draft);
}

}  // namespace tilewright
