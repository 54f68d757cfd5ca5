// A workload: one fused group, ready to be scheduled. It is what records are
// keyed by.
#ifndef TILEWRIGHT_SKETCH_TRACE_WORKLOAD_H_
#define TILEWRIGHT_SKETCH_TRACE_WORKLOAD_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tilegraph/analysis/known_zeros.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

// `graph`: placeholders and constants are the group's inputs, computes its
// members, outputs what leaves it. `layouts`: how the tensors that cross the
// group's boundary lie in memory, plain where absent; those of constants are
// the schedule's choice (set_layout) and not here. `zeros`: which elements of
// placeholders are zero whenever the kernel runs; a schedule may leave out what
// is multiplied by them. `stages`: empty, or a fused group's computes in parts,
// in an order in which they can run: each ascending and ending with its result,
// each compute in one of them. They say what is computed tile by tile with
// what, all else about them is decided (fused_schedule.h).
struct Workload {
  TensorGraph graph;
  std::map<TensorId, Layout> layouts;
  std::map<TensorId, KnownZeros> zeros = {};
  std::vector<std::vector<TensorId>> stages = {};

  Layout LayoutOf(TensorId id) const;  // plain row-major where absent
  // Canonical text: the graph's text form, constants by shape only, then one
  // line per layout, one per placeholder with known zeros, one per stage. Equal
  // text, equal workload.
  std::string Text() const;
};

// The inverse of Text(); the values of constants, which it does not hold,
// become zeros. InvalidArgument says what does not parse.
absl::StatusOr<Workload> ParseWorkload(std::string_view text);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TRACE_WORKLOAD_H_
