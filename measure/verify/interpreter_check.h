// The reference is checked too: against the interpreter, which shares no code
// with it but the meaning of single operations.
#ifndef TILEWRIGHT_MEASURE_VERIFY_INTERPRETER_CHECK_H_
#define TILEWRIGHT_MEASURE_VERIFY_INTERPRETER_CHECK_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "measure/inputs/input_sets.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/reference/reference.h"

namespace tilewright::measure {

inline constexpr int kPointsPerOutput = 256;
// Where an element needs many others (a product of products), fewer points: no
// more of an output once the interpreter has taken so many steps for it, but
// not below that many.
inline constexpr int64_t kMostSteps = int64_t{1} << 21;
inline constexpr int kLeastPoints = 8;

// Corners, edges, positions in the last tiles, random ones: at most `count`,
// distinct only by chance.
std::vector<std::vector<int64_t>> SamplePoints(
    const std::vector<int64_t>& shape, int count, Random& random);

// Internal, naming the element, if the interpreter gives another value at one
// of the points looked at: kPointsPerOutput of an output at most. `unit` is
// what the bounds of `expected` were made with.
absl::Status CompareWithInterpreter(
    const TensorGraph& graph, const InputSet& inputs,
    const std::map<TensorId, ReferenceTensor>& expected, double unit,
    Random& random);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_VERIFY_INTERPRETER_CHECK_H_
