// The axis along which reductions are cut.
#ifndef TILEWRIGHT_TILEGRAPH_IR_LONGEST_AXIS_H_
#define TILEWRIGHT_TILEGRAPH_IR_LONGEST_AXIS_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// The position of the longest axis, the first of equal ones. REQUIRES: there is
// one, and no symbols.
inline size_t LongestAxis(const std::vector<Axis>& axes) {
  return std::max_element(axes.begin(), axes.end(),
                          [](const Axis& a, const Axis& b) {
                            return a.extent.value() < b.extent.value();
                          }) -
         axes.begin();
}

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_IR_LONGEST_AXIS_H_
