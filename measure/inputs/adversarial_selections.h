// Further sets of inputs for graphs that pick by value (max, argmax, indices):
// random values alone show a skipped, doubled or shifted step of a selection
// only by luck. So selections are placed, turn by turn:
//
//   winners  in every reduction that selects, one loaded element of each output
//   is raised (for minima lowered), by another margin for every
//            output, so that over the turns the winner stands at every step,
//            or, in long reductions, at the first, second, last and random
//            ones. Neighbouring outputs win at different steps. On odd turns
//            arguments of maxima and minima get a second, equal winner later.
//   ramps    two more turns: all that output i + 1 selects from is larger
//   (smaller) than what output i does, so that a step too many shows indices
//   all are the largest in the first turn and 0 in the second
#ifndef TILEWRIGHT_MEASURE_INPUTS_ADVERSARIAL_SELECTIONS_H_
#define TILEWRIGHT_MEASURE_INPUTS_ADVERSARIAL_SELECTIONS_H_

#include "base/random.h"
#include "measure/inputs/input_sets.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::measure {

// As many as the longest selecting reduction over leaves has steps, at most 16,
// or 64 in small graphs, and two; two if there are only indices; 0 if nothing
// is picked by value.
int NumTurns(const TensorGraph& graph);
// Changes `set`, which was drawn for `graph`; `margin` should exceed the
// difference of any two values. `turn` in [0, NumTurns(graph)).
void PlaceSelections(const TensorGraph& graph, int turn, double margin,
                     Random& random, InputSet& set);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_INPUTS_ADVERSARIAL_SELECTIONS_H_
