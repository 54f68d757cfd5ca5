// Inputs that random values do not contain, for graphs that define what comes
// of them.
#ifndef TILEWRIGHT_MEASURE_INPUTS_HARD_INPUTS_H_
#define TILEWRIGHT_MEASURE_INPUTS_HARD_INPUTS_H_

#include "base/random.h"
#include "measure/inputs/input_sets.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::measure {

// Whether `graph` selects among the floats of its inputs (a reduction to the
// largest or smallest, or to its index) and sums nothing up: what an infinity
// or a NaN makes of it is defined then.
bool SelectsFloats(const TensorGraph& graph);
// In turns, so that over them an output finds one at each of its steps: one
// value that is NaN, or two and the infinity that wins; in the first turn all
// are the infinity that never wins.
int NumSpecialTurns(const TensorGraph& graph);
void PlantInfinitiesAndNans(const TensorGraph& graph, int turn, Random& random,
                            InputSet& set);

// How often rows are to be widened: 0 unless there is an exponential, and a
// reduction to the largest of computed values. Such rows are shifted by their
// maximum, and a shift that is too small must overflow to be seen.
int NumWideTurns(const TensorGraph& graph);
// Makes values of such rows so large, by one of their factors, that a shift
// without them overflows: in small graphs one step after the other, once as it
// is and once negative, so that it wins in every row; else all steps, with
// random signs. In the last two turns whole rows are far above or below zero,
// so that a shift of zero overflows or leaves nothing.
void WidenRows(const TensorGraph& graph, int turn, Random& random,
               InputSet& set);

// Whether indices are read, and the expressions bring all of them into range.
bool ClampsIndices(const TensorGraph& graph);
// Draws them from outside their range on both sides, and from its ends.
void PlantIndicesOutOfRange(const TensorGraph& graph, Random& random,
                            InputSet& set);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_INPUTS_HARD_INPUTS_H_
