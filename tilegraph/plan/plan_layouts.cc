#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/analysis/families.h"
#include "tilegraph/analysis/row_space.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/ir/layout_view.h"
#include "tilegraph/plan/channel_order.h"
#include "tilegraph/plan/layout_runs.h"
#include "tilegraph/plan/plan_draft.h"
#include "tilegraph/rewrite/bands/bands.h"
#include "tilegraph/rewrite/plain_copies.h"

namespace tilewright {
namespace {

class LayoutChooser {
 public:
  explicit LayoutChooser(PlanDraft& draft) : draft_(draft) {
    for (const auto* views : {&draft.views, &draft.places}) {
      for (const auto& [id, view] : *views)
        views_of_[view.source].push_back(id);
    }
    FindNarrowData();
  }

  void Run() {
    for (const Tensor& tensor : draft_.graph.tensors()) {
      if (tensor.kind == TensorKind::kPlaceholder)
        Place(tensor.id, Layout::RowMajor(tensor.static_shape()));
    }
    for (const Group& group : draft_.plan.groups) {
      const TensorId root = draft_.Root(group.output);
      if (draft_.plan.layouts.count(root)) continue;
      const std::vector<int64_t> shape =
          draft_.graph.tensor(root).static_shape();
      Layout layout = Layout::RowMajor(shape);
      for (const Layout& wanted : Preferred(Deciding(group, root))) {
        if (!SuitsViews(root, wanted)) continue;
        layout = wanted;
        break;
      }
      Place(root, WithHalo(root, layout));
    }
  }

 private:
  // The group that decides how `root` lies: of those that write parts of it the
  // first with a convolution, else `first`.
  const Group& Deciding(const Group& first, TensorId root) const {
    if (draft_.Written(root).size() == 1) return first;
    for (const Group& group : draft_.plan.groups) {
      if (draft_.Root(group.output) == root &&
          AsConvolution(draft_.graph, group.members[0]))
        return group;
    }
    return first;
  }

  // In order of preference; plain if none of them suits.
  std::vector<Layout> Preferred(const Group& group) const {
    const Tensor& output = draft_.graph.tensor(draft_.Root(group.output));
    const int64_t block = draft_.options.channel_block_or_default();
    if (block == 0 || draft_.is_output[output.id] ||
        output.hint.role() == ComputeRole::kPlainCopy)
      return {};
    if (const std::optional<Layout> moved = Moved(group, output))
      return {*moved};
    // A vector of filters multiplies one element of the data.
    if (const std::optional<int> channels = ChannelsOfFilter(draft_, output.id);
        channels && output.static_shape()[*channels] >= block)
      return {SideBySide(output.static_shape(), *channels)};
    if (const std::optional<int> terms = TermsOfProduct(draft_, output.id))
      return {SideBySide(output.static_shape(), *terms)};
    // Copies are in the order in which they are read, those of whole pixels in
    // that in which they read; a Winograd transform wants channels together.
    if (draft_.apart.count(group.output)) {
      std::vector<Layout> read = PixelsRead(group, output);
      return read.empty() ? ForWinograd(output) : read;
    }
    if (output.shape.size() < kLeastImageRank)
      return FollowedIfAny(group, output);
    const std::vector<int64_t> shape = output.static_shape();
    const std::optional<ConvolutionRoles> convolution =
        AsConvolution(draft_.graph, group.members[0]);
    if (convolution && IsByPixels(group, *convolution)) return {};
    const int64_t channels = shape[kChannelDim];
    const Layout last = ChannelsLast(shape);
    const bool whole = channels % block == 0;
    const Layout blocked = ChannelsInBlocks(shape, block);
    const bool nearly_whole = ChannelsFillBlocks(channels, block);
    if (convolution && HasFilters(group.members[0], *convolution)) {
      if (channels > 1 && EndsInChannels(output.id, last))
        return {last, blocked};
      if (whole) return {blocked, last};
      // Lanes beyond the channels compute nothing; lanes along a row would
      // gather data whose channels lie side by side.
      if (nearly_whole || (channels > 1 && ReadsSideBySide(*convolution)))
        return {last};
    }
    std::vector<Layout> transformed = ForWinograd(output);
    if (!transformed.empty()) return transformed;
    std::vector<Layout> followed = FollowedIfAny(group, output);
    if (!followed.empty()) return followed;
    // A product of matrices is no image, nor is what one loads rows of.
    if (AsContraction(draft_.graph, group.members[0]) ||
        IsReadInRows(draft_, output.id))
      return {};
    std::vector<Layout> read = PixelsRead(group, output);
    if (!read.empty()) return read;
    if (narrow_data_[output.id] && whole) return {blocked, last};
    if (narrow_data_[output.id] && nearly_whole) return {last};
    return {};
  }

  // The channels that Winograd transforms read, side by side.
  std::vector<Layout> ForWinograd(const Tensor& output) const {
    const auto channels = ChannelsForWinograd(draft_, output.id);
    if (!channels || output.shape.size() < kLeastImageRank) return {};
    const std::vector<int64_t> shape = output.static_shape();
    if (*channels != kChannelDim) return {SideBySide(shape, *channels)};
    const int64_t block = draft_.options.channel_block_or_default();
    if (shape[kChannelDim] % block != 0) return {};
    return {ChannelsInBlocks(shape, block), ChannelsLast(shape)};
  }

  // By tensor: whether dense convolutions take its narrow numbers, or what maps
  // and views make of them channel by channel: several channels side by side at
  // a time; but floats for few channels, which vectors of pixels compute.
  void FindNarrowData() {
    const absl::Span<const Tensor> tensors = draft_.graph.tensors();
    narrow_data_.assign(tensors.size(), false);
    for (auto tensor = tensors.rbegin(); tensor != tensors.rend(); ++tensor) {
      if (SizeBytes(tensor->dtype) >= SizeBytes(DType::kFloat32) ||
          tensor->shape.size() < kLeastImageRank)
        continue;
      const std::vector<TensorId>& consumers = draft_.consumers[tensor->id];
      narrow_data_[tensor->id] = std::any_of(
          consumers.begin(), consumers.end(),
          [&](TensorId consumer) { return IsData(tensor->id, consumer); });
    }
  }

  bool IsData(TensorId id, TensorId consumer) const {
    if (draft_.IsMap(consumer)) {
      const auto& from = draft_.graph.tensor(id).shape;
      const auto& to = draft_.graph.tensor(consumer).shape;
      return narrow_data_[consumer] && from.size() == to.size() &&
             from[kChannelDim] == to[kChannelDim];
    }
    const auto roles = AsConvolution(draft_.graph, consumer);
    return roles && roles->dense && roles->data.source() == id &&
           roles->data_channels == kChannelDim &&
           !(IsFloat(draft_.graph.tensor(id).dtype) &&
             tilewright::IsByPixels(draft_.graph.tensor(consumer), *roles,
                                    false,
                                    draft_.options.channel_block_or_default()));
  }

  // Whether vectors of output channels can load its filters. The product of a
  // batch of matrices with one looks like a convolution by that one.
  bool HasFilters(TensorId id, const ConvolutionRoles& convolution) const {
    const TensorId filter = draft_.Origin(convolution.filter.source());
    return draft_.graph.tensor(id).hint.role() != ComputeRole::kNone ||
           draft_.graph.tensor(filter).kind == TensorKind::kConstant;
  }

  // Whether it computes vectors of pixels, as it does of a copy that was made
  // for that (CopyDataReadByPixels).
  bool IsByPixels(const Group& group,
                  const ConvolutionRoles& convolution) const {
    if (draft_.graph.tensor(convolution.data.source()).hint.role() ==
        ComputeRole::kPlainCopy)
      return true;
    return tilewright::IsByPixels(draft_.graph.tensor(group.members[0]),
                                  convolution, false,
                                  draft_.options.channel_block_or_default()) &&
           !(convolution.dense && ReadsSideBySide(convolution));
  }

  // Whether the channels of its data lie side by side.
  bool ReadsSideBySide(const ConvolutionRoles& convolution) const {
    const auto data = draft_.plan.layouts.find(convolution.data.source());
    return data != draft_.plan.layouts.end() &&
           LieSideBySide(data->second, convolution.data_channels);
  }

  // Channels as the group reads them; plain if it reads them otherwise.
  std::vector<Layout> PixelsRead(const Group& group,
                                 const Tensor& output) const {
    const std::optional<ChannelOrder> read = ChannelsRead(draft_, group);
    if (!read) return {};
    const std::vector<int64_t> shape = output.static_shape();
    const int64_t block = draft_.options.channel_block_or_default();
    const Layout last = ChannelsLast(shape);
    if (*read == ChannelOrder::kInBlocks && shape[kChannelDim] % block == 0)
      return {ChannelsInBlocks(shape, block), last};
    return {last};
  }

  // Tensors that move between host and device lie alike on both sides: they are
  // copied as they are. Those that go to an output of the model are plain.
  std::optional<Layout> Moved(const Group& group, const Tensor& output) const {
    const auto goes_out = [&](TensorId reader) {
      return draft_.graph.tensor(reader).hint.role() == ComputeRole::kBandOut;
    };
    const std::vector<TensorId>& readers = draft_.consumers[group.output];
    if (const auto out = std::find_if(readers.begin(), readers.end(), goes_out);
        out != readers.end() && draft_.is_output[draft_.Root(*out)])
      return Layout::RowMajor(output.static_shape());
    if (!IsBandMove(draft_.graph.tensor(group.output))) return std::nullopt;
    const auto source = draft_.plan.layouts.find(group.inputs[0]);
    if (source == draft_.plan.layouts.end()) return std::nullopt;
    return Alike(source->second, output.static_shape());
  }

  // The dense layout of `shape` with the digits of `layout` in their order.
  static std::optional<Layout> Alike(const Layout& layout,
                                     const std::vector<int64_t>& shape) {
    const std::optional<Layout> dense = DenseInOrder(layout);
    if (!dense || layout.shape().size() != shape.size()) return std::nullopt;
    std::vector<Layout::Digit> digits = dense->digits();
    std::vector<int64_t> block(shape.size(), 1);
    for (const Layout::Digit& digit : digits)
      block[digit.dim] = std::max(block[digit.dim], digit.div);
    for (Layout::Digit& digit : digits) {
      if (digit.div == block[digit.dim])
        digit.extent = (shape[digit.dim] + digit.div - 1) / digit.div;
    }
    const std::vector<int64_t> none(shape.size(), 0);
    absl::StatusOr<Layout> alike =
        Layout::Create(shape, none, none, std::move(digits), layout.fill());
    return alike.ok() ? std::optional<Layout>(*std::move(alike)) : std::nullopt;
  }

  // Whether its computes are maps and reductions of rows, without reuse.
  bool KeepsToRows(const Group& group) const {
    return std::all_of(
        group.members.begin(), group.members.end(), [&](TensorId member) {
          return draft_.IsMap(member) || IsRowReduction(draft_.graph, member);
        });
  }

  std::vector<Layout> FollowedIfAny(const Group& group,
                                    const Tensor& output) const {
    if (!KeepsToRows(group)) return {};
    std::optional<Layout> followed = Followed(group, output);
    if (!followed || (LeavesRows(*followed) && IsReadInRows(draft_, output.id)))
      return {};
    return {*std::move(followed)};
  }

  // Whether neighbours along the last dimension lie apart.
  static bool LeavesRows(const Layout& layout) {
    return !LieSideBySide(layout, static_cast<int>(layout.shape().size()) - 1);
  }

  // Groups without reuse write in the order in which they read: that of the
  // longest runs of neighbours among what they read of their output's shape.
  // nullopt if plain serves as well.
  std::optional<Layout> Followed(const Group& group,
                                 const Tensor& output) const {
    const std::vector<int64_t> shape = output.static_shape();
    std::optional<Layout> best;
    int64_t plain_run = 0;
    for (const TensorId input : group.inputs) {
      const auto found = draft_.plan.layouts.find(input);
      if (found == draft_.plan.layouts.end() ||
          found->second.shape() != shape ||
          std::none_of(group.members.begin(), group.members.end(),
                       [&](TensorId member) {
                         return ReadsElementwise(draft_.graph, member, input) &&
                                Reads(member, input);
                       }))
        continue;
      std::optional<Layout> dense = DenseInOrder(found->second);
      if (!dense || EndsInShortRuns(*dense)) continue;
      if (EndsAsPlain(*dense)) {
        plain_run = std::max(plain_run, RunLength(*dense));
      } else if (!best || RunLength(*best) < RunLength(*dense)) {
        best = std::move(dense);
      }
    }
    if (best && RunLength(*best) <= plain_run) return std::nullopt;
    return best;
  }

  bool Reads(TensorId member, TensorId input) const {
    const std::vector<TensorId>& inputs = draft_.graph.Inputs(member);
    return std::find(inputs.begin(), inputs.end(), input) != inputs.end();
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

  Layout WithHalo(TensorId id, Layout layout) const {
    const auto halo = draft_.halos.find(id);
    if (halo == draft_.halos.end()) return layout;
    return layout.WithHalo(halo->second.before, halo->second.after,
                           Layout::Fill::kZero);
  }

  std::optional<Layout> LayoutOfView(TensorId id, const Layout& source) const {
    const auto view = draft_.views.find(id);
    return ViewLayout(source,
                      view != draft_.views.end() ? view->second.index
                                                 : draft_.places.at(id).index,
                      draft_.graph.tensor(id).static_shape());
  }

  // Whether all views of `id`, and theirs, have a layout if it has this one.
  bool SuitsViews(TensorId id, const Layout& layout) const {
    const auto views = views_of_.find(id);
    if (views == views_of_.end()) return true;
    const Layout whole = draft_.Root(id) == id ? WithHalo(id, layout) : layout;
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
  std::vector<bool> narrow_data_;
};

}  // namespace

void ChooseLayouts(PlanDraft& draft) { LayoutChooser(draft).Run(); }

}  // namespace tilewright
