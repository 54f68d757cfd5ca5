#include <algorithm>
#include <optional>

#include "tilegraph/plan_draft.h"

namespace tilewright {
namespace {

void ViewReshapes(PlanDraft& draft) {
  for (const Tensor& tensor : draft.graph.tensors()) {
    if (!draft.IsCompute(tensor.id) || draft.is_output[tensor.id]) continue;
    const std::optional<TensorId> source = AsReshape(draft.graph, tensor.id);
    if (!source) continue;
    draft.plan.views[tensor.id] = *source;
    // Row-major order is what the view means, all the way to where the memory
    // comes from.
    for (TensorId at = *source;; at = draft.plan.views.at(at)) {
      draft.must_be_plain.insert(at);
      if (!draft.IsView(at)) break;
    }
  }
}

bool CanHoldHalo(const PlanDraft& draft, TensorId source) {
  return draft.IsCompute(source) && !draft.is_output[source] &&
         !draft.IsView(source) && !draft.must_be_plain.count(source);
}

void ViewPaddings(PlanDraft& draft) {
  for (const Tensor& tensor : draft.graph.tensors()) {
    if (!draft.IsCompute(tensor.id) || draft.is_output[tensor.id] ||
        draft.IsView(tensor.id) || draft.must_be_plain.count(tensor.id))
      continue;
    const std::optional<ZeroPadding> padding =
        AsZeroPadding(draft.graph, tensor.id);
    if (!padding || !CanHoldHalo(draft, padding->source)) continue;
    draft.plan.views[tensor.id] = padding->source;
    draft.paddings[tensor.id] = *padding;
    auto [it, added] = draft.halos.insert(
        {padding->source, {padding->before, padding->after}});
    if (added) continue;
    Halo& halo = it->second;
    for (size_t i = 0; i < padding->before.size(); ++i) {
      halo.before[i] = std::max(halo.before[i], padding->before[i]);
      halo.after[i] = std::max(halo.after[i], padding->after[i]);
    }
  }
}

}  // namespace

void ChooseViews(PlanDraft& draft) {
  ViewReshapes(draft);
  ViewPaddings(draft);
}

}  // namespace tilewright
