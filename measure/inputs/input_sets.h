// Sets of values for the placeholders and constants of a workload, on which a
// candidate is run:
//
//   exact     small integers, so that every partial sum is exact in the
//             accumulator dtype, whatever the order
//   real      normal values, inputs of sums scaled so that outputs are of unit
//             size
//   positive  for graphs that clip (max or min of values): no float is below
//             zero, so that no term of a sum hides behind a clipped output;
//             reals, where they are clipped from above too, such that nothing
//             is (values_inside_clips.h)
//
// Values that are read as indices come from the valid range of what they index.
// Values that reach a logarithm, a square root, a divisor or the base of a
// power are drawn from [0.5, 1.5], unless what does cannot be negative anyway,
// as a variance or a sum of exponentials: inputs of one sign would cancel.
// Integers that reach a product with a huge constant, as masks do, are 0 or 1.
// Integer constants keep the values they have in the graph: they are shapes
// and indices.
#ifndef TILEWRIGHT_MEASURE_INPUTS_INPUT_SETS_H_
#define TILEWRIGHT_MEASURE_INPUTS_INPUT_SETS_H_

#include <cstdint>
#include <map>

#include "base/random.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::measure {

using InputSet = std::map<TensorId, HostTensor>;

// Integers in [-largest, largest], floats included. REQUIRES: largest >= 1.
InputSet DrawExactSet(const TensorGraph& graph, int64_t largest,
                      Random& random);
// `spreads`: of floats that are drawn in another way.
struct Spread {
  double mean, deviation;
};
// Integers in [-kLargestInteger, kLargestInteger].
inline constexpr int64_t kLargestInteger = 100;
InputSet DrawRealSet(const TensorGraph& graph, Random& random,
                     const std::map<TensorId, Spread>& spreads = {});

// Makes all floats positive; zeros become one.
void MakePositive(InputSet& set);
// Whether values are clipped: a max or min that is no reduction.
bool HasClipping(const TensorGraph& graph);
// Whether they are clipped from above: a min that is no reduction.
bool HasCeiling(const TensorGraph& graph);

// Tensors whose values are read as indices, and the smallest extent of what
// they index.
std::map<TensorId, int64_t> IndexExtents(const TensorGraph& graph);

// The ranges of integer placeholders that the graph can make sense of: indices
// of the tensor they index, 0 and 1 for a mask. Those of any value are not
// named.
struct IntegerRange {
  int64_t least, most;
};
std::map<TensorId, IntegerRange> IntegerRanges(const TensorGraph& graph);

// A margin that makes an exponential overflow if it is not shifted by its own
// maximum.
inline constexpr double kOverflowMargin = 150;
// One with which it overflows in fp32 if it is not, and with which the others,
// if it is, are numbers above zero still: a sum that overflowed makes them
// zero.
inline constexpr double kSmallOverflowMargin = 95;
// Whether there is an exponential in `graph`.
bool HasExponential(const TensorGraph& graph);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_INPUTS_INPUT_SETS_H_
