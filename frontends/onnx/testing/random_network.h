// Random networks as ONNX models: seeds of tests that compile whole models, and
// of fuzzers that mutate them.
//
// A network is a handful of blocks as real models have them, on odd sizes:
// convolutions of all kinds, norms, activations, pooling, attention, shuffles,
// squeeze and excite, upsampling, joins and residuals. Parameters are drawn so
// that values keep about unit size, and nothing in it is discontinuous: what
// rounding does to the result stays small.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_TESTING_RANDOM_NETWORK_H_
#define TILEWRIGHT_FRONTENDS_ONNX_TESTING_RANDOM_NETWORK_H_

#include <cstdint>

#include "onnx/onnx_pb.h"

namespace tilewright {

// A valid model of opset 17 with static shapes, one float input or one of int64
// indices into a table, and one or two float outputs; at most about 2^23
// multiply-adds. Equal seeds, equal models.
onnx::ModelProto RandomNetwork(uint64_t seed);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_TESTING_RANDOM_NETWORK_H_
