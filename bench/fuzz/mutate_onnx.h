// Changes valid ONNX models in ways that exporters and people get wrong.
#ifndef TILEWRIGHT_BENCH_FUZZ_MUTATE_ONNX_H_
#define TILEWRIGHT_BENCH_FUZZ_MUTATE_ONNX_H_

#include <string>

#include "base/random.h"
#include "onnx/onnx_pb.h"

namespace tilewright::bench {

// Applies one to three changes to attributes, dimensions, element types, edges,
// operators, opsets, initializers, inputs, outputs, names and nodes. Says what
// it changed, on one line. Same model and random state, same change.
std::string MutateOnnx(onnx::ModelProto& model, Random& random);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_FUZZ_MUTATE_ONNX_H_
