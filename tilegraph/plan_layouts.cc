#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "tilegraph/layout_view.h"
#include "tilegraph/plan_draft.h"

namespace tilewright {
namespace {

class LayoutChooser {
 public:
  explicit LayoutChooser(PlanDraft& draft) : draft_(draft) {
    for (const auto& [id, view] : draft.views)
      views_of_[view.source].push_back(id);
  }

  void Run() {
    for (const Tensor& tensor : draft_.graph.tensors()) {
      if (tensor.kind == TensorKind::kPlaceholder)
        Place(tensor.id, Layout::RowMajor(tensor.static_shape()));
    }
    for (const Group& group : draft_.plan.groups) {
      const std::vector<int64_t> shape =
          draft_.graph.tensor(group.output).static_shape();
      const Layout blocked =
          WantsBlocks(group)
              ? Layout::BlockedLast(shape, 1, draft_.options.channel_block)
              : Layout();
      if (!blocked.shape().empty() && SuitsViews(group.output, blocked)) {
        blocked_.insert(group.output);
        Place(group.output, WithHalo(group.output, blocked));
      } else {
        Place(group.output, WithHalo(group.output, Layout::RowMajor(shape)));
      }
    }
  }

 private:
  bool WantsBlocks(const Group& group) const {
    const Tensor& output = draft_.graph.tensor(group.output);
    if (draft_.options.channel_block == 0 || draft_.is_output[output.id] ||
        output.shape.size() < 3)
      return false;
    if (output.shape[1].value() % draft_.options.channel_block != 0)
      return false;
    if (draft_.graph.tensor(group.members[0]).hint == "conv") return true;
    return std::any_of(
        group.inputs.begin(), group.inputs.end(), [&](TensorId input) {
          const TensorId root = draft_.Root(input);
          return blocked_.count(root) &&
                 draft_.graph.tensor(root).shape.size() ==
                     output.shape.size() &&
                 draft_.graph.tensor(root).shape[1] == output.shape[1];
        });
  }

  Layout WithHalo(TensorId id, Layout layout) const {
    const auto halo = draft_.halos.find(id);
    if (halo == draft_.halos.end()) return layout;
    return layout.WithHalo(halo->second.before, halo->second.after,
                           Layout::Fill::kZero);
  }

  std::optional<Layout> LayoutOfView(TensorId id, const Layout& source) const {
    return ViewLayout(source, draft_.views.at(id).index,
                      draft_.graph.tensor(id).static_shape());
  }

  // Whether all views of `id`, and theirs, have a layout if it has this one.
  bool SuitsViews(TensorId id, const Layout& layout) const {
    const auto views = views_of_.find(id);
    if (views == views_of_.end()) return true;
    const Layout whole = draft_.IsView(id) ? layout : WithHalo(id, layout);
    return std::all_of(
        views->second.begin(), views->second.end(), [&](TensorId view) {
          const std::optional<Layout> own = LayoutOfView(view, whole);
          return own && SuitsViews(view, *own);
        });
  }

  void Place(TensorId id, Layout layout) {
    const auto views = views_of_.find(id);
    if (views != views_of_.end()) {
      for (const TensorId view : views->second) {
        std::optional<Layout> own = LayoutOfView(view, layout);
        if (own) {
          Place(view, *std::move(own));
        } else {
          draft_.misfits[view] = "no layout expresses it";
        }
      }
    }
    draft_.plan.layouts[id] = std::move(layout);
  }

  PlanDraft& draft_;
  std::map<TensorId, std::vector<TensorId>> views_of_;
  std::set<TensorId> blocked_;
};

}  // namespace

void ChooseLayouts(PlanDraft& draft) { LayoutChooser(draft).Run(); }

}  // namespace tilewright
