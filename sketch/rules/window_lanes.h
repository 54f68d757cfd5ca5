// Along which axis the vectors of a window's results lie.
#ifndef TILEWRIGHT_SKETCH_RULES_WINDOW_LANES_H_
#define TILEWRIGHT_SKETCH_RULES_WINDOW_LANES_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "sketch/trace/workload.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

// The axis along which the data lie, where results, along axis `results`, lie
// across them and it fills half of `lanes`: results are stored once, but data
// loaded for every place of a window. None where all lanes of a vector of
// results read the same data. `body`: what `reduction` sums.
std::optional<int> AxisOfData(const Workload& workload,
                              const Compute& reduction,
                              absl::Span<const Expr> body, int results,
                              int64_t lanes);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_WINDOW_LANES_H_
