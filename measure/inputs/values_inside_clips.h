// Values for graphs that clip from above (ReLU6, hard swish): what reaches a
// clip lies between its ends, nearly all of it. So a wrong element shows
// however many clips follow each other, while with unit normals half of the
// values are at an end.
#ifndef TILEWRIGHT_MEASURE_INPUTS_VALUES_INSIDE_CLIPS_H_
#define TILEWRIGHT_MEASURE_INPUTS_VALUES_INSIDE_CLIPS_H_

#include <map>

#include "measure/inputs/input_sets.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::measure {

// How the floats of placeholders and constants are to be drawn: an operand of
// every sum that reaches a clip such that the sum's mean is the middle of the
// clip's range and four deviations reach its ends (of a sum of integers, a
// factor that it is multiplied by); data around 1, offsets
// around 0, factors around 1. What has no entry does not matter to a clip.
std::map<TensorId, Spread> SpreadsInsideClips(const TensorGraph& graph);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_INPUTS_VALUES_INSIDE_CLIPS_H_
