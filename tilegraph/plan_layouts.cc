#include <algorithm>
#include <set>

#include "tilegraph/plan_draft.h"

namespace tilewright {
namespace {

// `blocked`: roots that are blocked already.
bool WantsBlocks(const PlanDraft& draft, const Group& group,
                 const std::set<TensorId>& blocked) {
  const Tensor& output = draft.graph.tensor(group.output);
  if (draft.options.channel_block == 0 || draft.is_output[output.id] ||
      draft.must_be_plain.count(output.id) || output.shape.size() < 3)
    return false;
  if (output.shape[1].value() % draft.options.channel_block != 0) return false;
  if (draft.graph.tensor(group.members[0]).hint == "conv") return true;
  return std::any_of(
      group.inputs.begin(), group.inputs.end(), [&](TensorId input) {
        const TensorId root = draft.Root(input);
        return blocked.count(root) &&
               draft.graph.tensor(root).shape.size() == output.shape.size() &&
               draft.graph.tensor(root).shape[1] == output.shape[1];
      });
}

// The padded tensor's own index map onto the memory of its source: what
// remains of the halo is padding of the view.
Layout PaddedView(const PlanDraft& draft, const Tensor& view,
                  const ZeroPadding& padding) {
  const Layout& source = draft.plan.layouts.at(padding.source);
  std::vector<int64_t> before = source.pad_before(), after = source.pad_after();
  for (size_t i = 0; i < before.size(); ++i) {
    before[i] -= padding.before[i];
    after[i] -= padding.after[i];
  }
  return *Layout::Create(view.static_shape(), before, after, source.digits(),
                         Layout::Fill::kZero);
}

}  // namespace

void ChooseLayouts(PlanDraft& draft) {
  std::map<TensorId, Layout>& layouts = draft.plan.layouts;
  std::set<TensorId> blocked;
  for (const Tensor& tensor : draft.graph.tensors()) {
    if (tensor.kind == TensorKind::kPlaceholder)
      layouts[tensor.id] = Layout::RowMajor(tensor.static_shape());
  }
  for (const Group& group : draft.plan.groups) {
    const std::vector<int64_t> shape =
        draft.graph.tensor(group.output).static_shape();
    Layout layout = Layout::RowMajor(shape);
    if (WantsBlocks(draft, group, blocked)) {
      blocked.insert(group.output);
      layout = Layout::BlockedLast(shape, 1, draft.options.channel_block);
    }
    const auto halo = draft.halos.find(group.output);
    if (halo != draft.halos.end())
      layout = layout.WithHalo(halo->second.before, halo->second.after,
                               Layout::Fill::kZero);
    layouts[group.output] = layout;
  }
  for (auto& [view, source] : draft.plan.views) {
    const Tensor& tensor = draft.graph.tensor(view);
    const auto padding = draft.paddings.find(view);
    layouts[view] = padding == draft.paddings.end()
                        ? Layout::RowMajor(tensor.static_shape())
                        : PaddedView(draft, tensor, padding->second);
  }
  for (auto& [view, source] : draft.plan.views) source = draft.Root(source);
}

}  // namespace tilewright
