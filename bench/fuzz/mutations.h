// The kinds of changes that MutateOnnx draws from.
//
// Each makes one change somewhere in the model and says what it changed; empty
// if the model has nothing of the kind. Same model and random state, same
// change.
#ifndef TILEWRIGHT_BENCH_FUZZ_MUTATIONS_H_
#define TILEWRIGHT_BENCH_FUZZ_MUTATIONS_H_

#include <cstddef>
#include <string>

#include "base/random.h"
#include "onnx/onnx_pb.h"

namespace tilewright::bench {

// mutate_nodes.cc: attributes, edges, operators and nodes.
std::string MutateAttribute(onnx::ModelProto& model, Random& random);
std::string MutateEdge(onnx::ModelProto& model, Random& random);
std::string MutateOperator(onnx::ModelProto& model, Random& random);
std::string MutateNodes(onnx::ModelProto& model, Random& random);

// mutate_values.cc: what the model says of its values, and constants.
std::string MutateDimension(onnx::ModelProto& model, Random& random);
std::string MutateType(onnx::ModelProto& model, Random& random);
std::string MutateInitializer(onnx::ModelProto& model, Random& random);
std::string MutateBoundary(onnx::ModelProto& model, Random& random);
std::string MutateOpset(onnx::ModelProto& model, Random& random);

// The name of some value, or of none.
std::string AnyName(const onnx::GraphProto& graph, Random& random);

template <typename T, size_t kSize>
const T& AnyOf(const T (&values)[kSize], Random& random) {
  return values[random.Index(kSize)];
}

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_FUZZ_MUTATIONS_H_
