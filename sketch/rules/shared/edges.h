// The decision which taps are computed at the borders of a padded convolution,
// or of any other sum of products with known zeros.
//
//   edges   all: every tap. Without those that lie in known zeros: rows, where
//           the index along any dimension of the operand but its last says so;
//           columns, where that along the last one does; rows+columns
//
// It may change bits: where all terms of a sum are too small for any float, it
// is a zero of either sign, and adding a zero makes it positive.
#ifndef TILEWRIGHT_SKETCH_RULES_SHARED_EDGES_H_
#define TILEWRIGHT_SKETCH_RULES_SHARED_EDGES_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "sketch/rules/shared/find_edges.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

// The dimensions of one operand along which its known zeros are skipped.
struct SkippedZeros {
  std::string tensor;
  std::vector<int> dims;
};

// "edges", where a step reads a known zero; else nothing is asked. `edges`: of
// the sum. Preferred is to leave out what `pays`, by the rule of the family:
// more time than the code for borders takes.
std::vector<SkippedZeros> DecideEdges(
    Decider& decider, const Workload& workload, const Tensor& reduction,
    absl::Span<const Edge> edges, const std::function<bool(const Edge&)>& pays);

// Writes it, into the block of the sum.
void SkipZeros(ScheduleWriter& writer, Handle block,
               const std::vector<SkippedZeros>& skipped);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_SHARED_EDGES_H_
