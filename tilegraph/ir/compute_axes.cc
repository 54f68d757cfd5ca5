#include "tilegraph/ir/compute_axes.h"

#include <algorithm>
#include <optional>

namespace tilewright {

const Axis& AxisAt(const Compute& compute, size_t ordinal) {
  const size_t spatial = compute.axes.size();
  return ordinal < spatial ? compute.axes[ordinal]
                           : compute.reduce_axes[ordinal - spatial];
}

RangeOf AxisRanges(const Compute& compute) {
  return [&compute](int var) -> std::optional<Range> {
    return Range{0,
                 AxisAt(compute, static_cast<size_t>(var)).extent.value() - 1};
  };
}

std::string NewAxisName(const Compute& compute, std::string wanted) {
  const auto taken = [&](const Axis& axis) { return axis.name == wanted; };
  while (std::any_of(compute.axes.begin(), compute.axes.end(), taken) ||
         std::any_of(compute.reduce_axes.begin(), compute.reduce_axes.end(),
                     taken))
    wanted.push_back('_');
  return wanted;
}

}  // namespace tilewright
