// Whether a contraction of narrow numbers runs on a dot intrinsic of the
// machine (tilegraph/ir/intrinsics.h), and what that asks of its schedule.
#ifndef TILEWRIGHT_SKETCH_RULES_DOT_CHOICE_H_
#define TILEWRIGHT_SKETCH_RULES_DOT_CHOICE_H_

#include <optional>

#include "absl/types/span.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/rules/shared/reduce_loops.h"
#include "sketch/trace/workload.h"
#include "tilegraph/ir/intrinsics.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

struct DotChoice {
  const DotIntrinsic* intrinsic;
  TermGroup group;
  // As in TileSpace.
  int registers_per_load;
  int registers_beside;
};

// nullopt: the machine has no such intrinsic, or the operands do not lie as it
// needs them: one with the terms of a group side by side, the same along the
// output's vector axis; the other a constant, which can be packed. `body`: of
// the reduction, its prologue inlined.
std::optional<DotChoice> ChooseDot(const Workload& workload,
                                   const DeviceSpec& spec,
                                   const Tensor& reduction,
                                   absl::Span<const Expr> body,
                                   int vector_axis);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_DOT_CHOICE_H_
