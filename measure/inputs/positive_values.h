// Values whose sign is known whatever the inputs are: sums of squares
// (variances), exponentials, roots, what is clipped at zero.
#ifndef TILEWRIGHT_MEASURE_INPUTS_POSITIVE_VALUES_H_
#define TILEWRIGHT_MEASURE_INPUTS_POSITIVE_VALUES_H_

#include <map>
#include <utility>

#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::measure {

class PositiveValues {
 public:
  // `graph` must outlive it.
  explicit PositiveValues(const TensorGraph& graph) : graph_(graph) {}

  // Whether a value of a body cannot be below zero, or, `strictly`, cannot be
  // zero either. False if that is not seen.
  bool IsPositive(const Expr& e, bool strictly);

 private:
  bool IsPositive(TensorId id, bool strictly);

  const TensorGraph& graph_;
  std::map<std::pair<TensorId, bool>, bool> known_;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_INPUTS_POSITIVE_VALUES_H_
