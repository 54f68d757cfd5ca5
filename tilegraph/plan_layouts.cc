#include <algorithm>
#include <optional>
#include <utility>

#include "tilegraph/layout_view.h"
#include "tilegraph/plan_draft.h"
#include "tilegraph/winograd.h"

namespace tilewright {

RangeOf RangesOf(const Compute& compute) {
  return [&compute](int var) -> std::optional<Range> {
    const size_t spatial = compute.axes.size(), axis = static_cast<size_t>(var);
    return Range{0, (axis < spatial ? compute.axes[axis]
                                    : compute.reduce_axes[axis - spatial])
                            .extent.value() -
                        1};
  };
}

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
      Layout layout = Layout::RowMajor(shape);
      for (const Channels wanted : Preferred(group)) {
        const Layout one =
            wanted == Channels::kLast
                ? ChannelsLast(shape)
                : Layout::BlockedLast(shape, 1, draft_.options.channel_block);
        if (!SuitsViews(group.output, one)) continue;
        layout = one;
        break;
      }
      Place(group.output, WithHalo(group.output, layout));
    }
  }

 private:
  // How the elements of one pixel lie: in blocks, or all side by side.
  enum class Channels { kBlocked, kLast };

  static Layout ChannelsLast(const std::vector<int64_t>& shape) {
    std::vector<Layout::Digit> digits;
    for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
      if (d != 1) digits.push_back({d, 1, shape[d]});
    }
    digits.push_back({1, 1, shape[1]});
    const std::vector<int64_t> none(shape.size(), 0);
    return *Layout::Create(shape, none, none, digits, Layout::Fill::kUndefined);
  }

  // In order of preference; plain if none of them suits.
  std::vector<Channels> Preferred(const Group& group) const {
    const Tensor& output = draft_.graph.tensor(group.output);
    const int64_t block = draft_.options.channel_block;
    if (block == 0 || draft_.is_output[output.id] || output.shape.size() < 3)
      return {};
    const int64_t channels = output.shape[1].value();
    const bool whole = channels % block == 0;
    const int64_t padded = (channels + block - 1) / block * block;
    const std::string& hint = draft_.graph.tensor(group.members[0]).hint;
    if (hint == "conv" || hint == kWinogradInputHint) {
      if (channels > 1 &&
          EndsInChannels(output.id, ChannelsLast(output.static_shape())))
        return {Channels::kLast, Channels::kBlocked};
      if (whole) return {Channels::kBlocked, Channels::kLast};
      // Lanes beyond the channels compute nothing.
      if (3 * padded <= 4 * channels) return {Channels::kLast};
    }
    if (whole && FeedsWinograd(output.id))
      return {Channels::kBlocked, Channels::kLast};
    const std::optional<Channels> read = ChannelsRead(group);
    if (!read) return {};
    if (*read == Channels::kBlocked && whole)
      return {Channels::kBlocked, Channels::kLast};
    return {Channels::kLast};
  }

  // Whether a Winograd input transform, which computes vectors of channels,
  // reads `id` or a view of it.
  bool FeedsWinograd(TensorId id) const {
    const std::vector<TensorId>& consumers = draft_.consumers[id];
    return std::any_of(
        consumers.begin(), consumers.end(), [&](TensorId consumer) {
          return draft_.graph.tensor(consumer).hint == kWinogradInputHint ||
                 (draft_.IsView(consumer) && FeedsWinograd(consumer));
        });
  }

  // Whether some view of `id`, if it has this layout, has the channels as its
  // last dimension, side by side.
  bool EndsInChannels(TensorId id, const Layout& layout) const {
    const auto views = views_of_.find(id);
    if (views == views_of_.end()) return false;
    return std::any_of(
        views->second.begin(), views->second.end(), [&](TensorId view) {
          const std::optional<Layout> own = LayoutOfView(view, layout);
          if (!own) return false;
          const int last = static_cast<int>(own->shape().size()) - 1;
          for (size_t i = 0; i < own->digits().size(); ++i) {
            const Layout::Digit& digit = own->digits()[i];
            if (digit.dim == last && digit.extent > 1 &&
                digit.extent == own->shape()[last] &&
                own->stride(static_cast<int>(i)) == 1)
              return true;
          }
          return EndsInChannels(view, *own);
        });
  }

  // Whether `source` can be the image that `output` works on channel by
  // channel: indices, masks and the like have another rank.
  static bool HasPixelsOf(const Tensor& source, const Tensor& output) {
    return source.shape.size() == output.shape.size() &&
           source.shape[1] == output.shape[1] && source.shape.size() >= 3 &&
           source.dtype == output.dtype;
  }

  // How the group reads tensors of other groups in whose memory neighbouring
  // channels of its own output lie side by side; nullopt if it reads none such.
  std::optional<Channels> ChannelsRead(const Group& group) const {
    const Tensor& output = draft_.graph.tensor(group.output);
    std::optional<Channels> read;
    for (const TensorId member : group.members) {
      const Tensor& tensor = draft_.graph.tensor(member);
      if (tensor.shape != output.shape) continue;
      for (const Expr& body : tensor.compute.body) {
        Visit(body, [&](const Expr& e) {
          if (e.op() != Op::kLoad) return;
          const auto layout = draft_.plan.layouts.find(e.source());
          if (layout == draft_.plan.layouts.end() ||
              !HasPixelsOf(draft_.graph.tensor(e.source()), output))
            return;
          const LinearForm offset = ToLinear(
              layout->second.Offset(e.operands()), RangesOf(tensor.compute));
          for (const auto& [term, coefficient] : offset.terms) {
            if (coefficient != 1) continue;
            if (term.op() == Op::kVar && term.var_id() == 1)
              read = Channels::kLast;
            if (term.op() == Op::kFloorMod &&
                term.operand(0).op() == Op::kVar &&
                term.operand(0).var_id() == 1 && !read)
              read = Channels::kBlocked;
          }
        });
      }
    }
    return read;
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
};

}  // namespace

void ChooseLayouts(PlanDraft& draft) { LayoutChooser(draft).Run(); }

}  // namespace tilewright
