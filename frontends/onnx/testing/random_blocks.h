// The blocks of random networks. Each takes a value and gives one that the next
// block can take: an image [n, c, h, w] or tokens [n, t, d]. Internal to random
// networks.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_TESTING_RANDOM_BLOCKS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_TESTING_RANDOM_BLOCKS_H_

#include "frontends/onnx/testing/network_draft.h"

namespace tilewright {

// A number of channels; multiples of 8 and 16 half of the time.
int64_t RandomChannels(NetworkDraft& net);

// Image to image: convolutions, norms, pooling, joins, shuffles, resizing, and
// attention over the pixels of small images.
Value RandomImageBlock(NetworkDraft& net, const Value& x);
// A batch, instance, group or layer norm of an image.
Value RandomImageNorm(NetworkDraft& net, const Value& x);
// Rearranges or resizes an image: shuffles, slices, paddings, upsampling.
Value RandomImageMove(NetworkDraft& net, const Value& x);

// A long chain of elementwise operators, of those that read a value twice too.
Value RandomChain(NetworkDraft& net, const Value& x);

// Tokens to tokens: attention, MLPs, norms, shifts.
Value RandomTokenBlock(NetworkDraft& net, const Value& x);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_TESTING_RANDOM_BLOCKS_H_
