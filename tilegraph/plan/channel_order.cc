#include "tilegraph/plan/channel_order.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/analysis/families.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/ir/compute_axes.h"
#include "tilegraph/ir/intrinsics.h"
#include "tilegraph/rewrite/winograd.h"

namespace tilewright {
namespace {

// Whether `source` can be the image that `output` works on channel by channel:
// of its rank and channels, of numbers as it or both of floats, and broadcast
// along no dimension.
bool HasPixelsOf(const Tensor& source, const Tensor& output) {
  const auto& from = source.shape;
  const auto& to = output.shape;
  const bool alike = source.dtype == output.dtype ||
                     (IsFloat(source.dtype) && IsFloat(output.dtype));
  if (!alike || from.size() != to.size() || from.size() < kLeastImageRank ||
      from[kChannelDim] != to[kChannelDim])
    return false;
  for (size_t d = kChannelDim + 1; d < from.size(); ++d) {
    if (from[d] == Dim(1) && to[d] != Dim(1)) return false;
  }
  return true;
}

bool IsChannel(const Expr& e) {
  return e.op() == Op::kVar && e.var_id() == kChannelDim;
}

// The dimension whose index is variable `var` itself.
std::optional<int> DimensionAt(absl::Span<const Expr> index, int var) {
  for (size_t d = 0; d < index.size(); ++d) {
    if (index[d].op() == Op::kVar && index[d].var_id() == var)
      return static_cast<int>(d);
  }
  return std::nullopt;
}

// Whether an image is read at `index` channel by channel: a transposed matrix
// may have as many rows as channels, and is none.
bool KeepsChannels(absl::Span<const Expr> index) {
  for (size_t d = 0; d < index.size(); ++d) {
    if (Mentions(index[d], kChannelDim) != (d == kChannelDim)) return false;
  }
  return true;
}

// The order in which an image lies whose element at `offset` is read for each
// channel; nullopt if neighbouring channels are no neighbours there.
std::optional<ChannelOrder> OrderAt(const LinearForm& offset) {
  std::optional<ChannelOrder> order;
  for (const auto& [term, coefficient] : offset.terms) {
    if (coefficient != 1) continue;
    if (IsChannel(term)) return ChannelOrder::kLast;
    if (term.op() == Op::kFloorMod && IsChannel(term.operand(0)))
      order = ChannelOrder::kInBlocks;
  }
  return order;
}

// Of parts that become neighbouring channels: blocks stay blocks where a part
// begins with one.
std::optional<ChannelOrder> OrderOfParts(const PlanDraft& draft,
                                         const Concatenation& whole) {
  const int64_t block = draft.options.channel_block_or_default();
  bool in_blocks = true;
  bool side_by_side = false;
  for (const Concatenation::Part& part : whole.parts) {
    const auto layout = draft.plan.layouts.find(part.source);
    if (layout == draft.plan.layouts.end() ||
        layout->second.shape().size() < kLeastImageRank)
      return std::nullopt;
    const bool of_channels = LieSideBySide(layout->second, kChannelDim);
    side_by_side |= of_channels;
    in_blocks &= of_channels &&
                 layout->second.digits().back().extent == block &&
                 part.offset % block == 0;
  }
  if (!side_by_side) return std::nullopt;
  return in_blocks ? ChannelOrder::kInBlocks : ChannelOrder::kLast;
}

}  // namespace

Layout ChannelsLast(const std::vector<int64_t>& shape) {
  return SideBySide(shape, kChannelDim);
}

Layout SideBySide(const std::vector<int64_t>& shape, int dim) {
  std::vector<Layout::Digit> digits;
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
    if (d != dim) digits.push_back({d, 1, shape[d]});
  }
  digits.push_back({dim, 1, shape[dim]});
  const std::vector<int64_t> none(shape.size(), 0);
  return *Layout::Create(shape, none, none, digits, Layout::Fill::kUndefined);
}

Layout ChannelsInBlocks(const std::vector<int64_t>& shape, int64_t block) {
  return Layout::BlockedLast(shape, kChannelDim, block);
}

bool LieSideBySide(const Layout& layout, int dim) {
  const std::vector<Layout::Digit>& digits = layout.digits();
  return !digits.empty() && digits.back().dim == dim &&
         digits.back().extent > 1;
}

std::optional<ChannelOrder> ChannelsRead(const PlanDraft& draft,
                                         const Group& group) {
  const Tensor& output = draft.graph.tensor(group.output);
  if (const auto whole = AsConcatenation(draft.graph, group.output);
      whole && whole->axis == kChannelDim)
    return OrderOfParts(draft, *whole);
  std::optional<ChannelOrder> read;
  for (const TensorId member : group.members) {
    const Tensor& tensor = draft.graph.tensor(member);
    if (tensor.shape != output.shape) continue;
    for (const Expr& body : tensor.compute.body) {
      Visit(body, [&](const Expr& e) {
        if (e.op() != Op::kLoad) return;
        const auto layout = draft.plan.layouts.find(e.source());
        if (layout == draft.plan.layouts.end() ||
            !HasPixelsOf(draft.graph.tensor(e.source()), output) ||
            !KeepsChannels(e.operands()))
          return;
        const auto order = OrderAt(ToLinear(layout->second.Offset(e.operands()),
                                            AxisRanges(tensor.compute)));
        // Of several the one that is not cut into blocks.
        if (order == ChannelOrder::kLast || !read) read = order ? order : read;
      });
    }
  }
  return read;
}

std::optional<int> ChannelsOfFilter(const PlanDraft& draft, TensorId id) {
  std::optional<int> channels;
  for (const TensorId consumer : draft.consumers[id]) {
    std::optional<int> read;
    if (draft.IsView(consumer)) {
      if (const auto of_view = ChannelsOfFilter(draft, consumer))
        read = DimensionAt(draft.views.at(consumer).index, *of_view);
    } else if (const auto roles = AsConvolution(draft.graph, consumer);
               roles && roles->dense && roles->filter.source() == id &&
               roles->data.source() != id) {
      read = DimensionAt(roles->filter.operands(), kChannelDim);
    }
    if (!read || (channels && channels != read)) return std::nullopt;
    channels = read;
  }
  return channels;
}

std::optional<int> TermsOfProduct(const PlanDraft& draft, TensorId id) {
  for (const TensorId consumer : draft.consumers[id]) {
    const Tensor& tensor = draft.graph.tensor(consumer);
    if (draft.IsView(consumer)) {
      const auto of_view = TermsOfProduct(draft, consumer);
      if (!of_view) continue;
      if (const auto own =
              DimensionAt(draft.views.at(consumer).index, *of_view))
        return own;
    } else if (tensor.compute.reduce_axes.size() == 1) {
      const auto term =
          MatchDotTerm(*tensor.compute.combiner, tensor.compute.body[0]);
      const int terms = static_cast<int>(tensor.compute.axes.size());
      if (term && term->a.source() == id && !IsFloat(term->a.dtype()))
        return DimensionAt(term->a.operands(), terms);
    }
  }
  return std::nullopt;
}

std::optional<int> ChannelsForWinograd(const PlanDraft& draft, TensorId id) {
  for (const TensorId consumer : draft.consumers[id]) {
    if (MayBeWinograd(draft.graph.tensor(consumer))) return kChannelDim;
    if (!draft.IsView(consumer)) continue;
    const auto of_view = ChannelsForWinograd(draft, consumer);
    if (!of_view) continue;
    if (const auto own = DimensionAt(draft.views.at(consumer).index, *of_view))
      return own;
  }
  return std::nullopt;
}

bool IsReadInRows(const PlanDraft& draft, TensorId id) {
  const std::vector<TensorId>& consumers = draft.consumers[id];
  return std::any_of(
      consumers.begin(), consumers.end(), [&](TensorId consumer) {
        const auto product = AsContraction(draft.graph, consumer);
        if (!product) return false;
        const int columns =
            static_cast<int>(draft.graph.tensor(consumer).shape.size()) - 1;
        const auto in_rows = [&](const Expr& operand) {
          return operand.source() == id && !operand.operands().empty() &&
                 operand.operands().back().op() == Op::kVar &&
                 operand.operands().back().var_id() == columns;
        };
        return in_rows(product->a) || in_rows(product->b);
      });
}

}  // namespace tilewright
