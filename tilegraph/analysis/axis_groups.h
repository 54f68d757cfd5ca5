// Axes that are walked in groups of neighbours, as the output channels of a
// convolution in groups are.
#ifndef TILEWRIGHT_TILEGRAPH_ANALYSIS_AXIS_GROUPS_H_
#define TILEWRIGHT_TILEGRAPH_ANALYSIS_AXIS_GROUPS_H_

#include <cstdint>
#include <optional>

#include "tilegraph/expr/expr.h"

namespace tilewright {

// `axis floordiv size`: which group of so many neighbours an element is in.
struct AxisGroup {
  int axis;      // a variable
  int64_t size;  // positive
};
// nullopt for any other expression.
std::optional<AxisGroup> AsAxisGroup(const Expr& e);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_ANALYSIS_AXIS_GROUPS_H_
