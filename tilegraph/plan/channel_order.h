// How the channels of images lie in memory. Convolutions compute vectors of
// them, so those of a pixel lie side by side: all of them, or a block of them
// after the other. What copies, pools or concatenates images keeps to the order
// that it reads.
#ifndef TILEWRIGHT_TILEGRAPH_PLAN_CHANNEL_ORDER_H_
#define TILEWRIGHT_TILEGRAPH_PLAN_CHANNEL_ORDER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tilegraph/ir/layout.h"
#include "tilegraph/plan/plan_draft.h"

namespace tilewright {

// An image is [batch, channels, pixels ...], as in ONNX. That a tensor of this
// rank is one shows by what makes it (a convolution), or by how the images lie
// that it is made of.
inline constexpr int kChannelDim = 1;
inline constexpr int kLeastImageRank = 3;

enum class ChannelOrder { kInBlocks, kLast };

// REQUIRES: `shape` is an image's. A last block that is not full is padded.
Layout ChannelsLast(const std::vector<int64_t>& shape);
Layout ChannelsInBlocks(const std::vector<int64_t>& shape, int64_t block);

// The dense layout of `shape` with the elements along `dim` side by side.
Layout SideBySide(const std::vector<int64_t>& shape, int dim);

// Whether neighbours along `dim` are neighbours in memory, as channels are in
// both.
bool LieSideBySide(const Layout& layout, int dim);

// The order of channels in the images of other groups that `group` reads pixel
// by pixel, or channel by channel, where they have their layouts already;
// nullopt if it reads none whose channels lie side by side.
std::optional<ChannelOrder> ChannelsRead(const PlanDraft& draft,
                                         const Group& group);

// Where `id` is nothing but the filter of dense convolutions, itself or as
// views: its dimension of their output channels.
std::optional<int> ChannelsOfFilter(const PlanDraft& draft, TensorId id);

// Where a product of matrices multiplies several terms of `id`, or of a view of
// it, in one instruction (tilegraph/ir/intrinsics.h): its dimension of those.
std::optional<int> TermsOfProduct(const PlanDraft& draft, TensorId id);

// Where a Winograd input transform, which computes vectors of channels, reads
// `id` or a view of it: its dimension of those.
std::optional<int> ChannelsForWinograd(const PlanDraft& draft, TensorId id);

// Whether a product of matrices has its results' neighbours along a row from
// neighbours along the last dimension of `id`: it loads vectors of them.
bool IsReadInRows(const PlanDraft& draft, TensorId id);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_PLAN_CHANNEL_ORDER_H_
