// Costs of a convolution, directly and by Winograd.
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_WINOGRAD_COST_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_WINOGRAD_COST_H_

#include "absl/types/span.h"
#include "backends/spec/device_spec.pb.h"
#include "tilegraph/rewrite/winograd.h"

namespace tilewright {

// How long the convolution takes on one core whose figures are in the spec,
// with tiles of m x m outputs, m = 2 or 4; m = 1: the direct form.
double EstimatedSeconds(const WinogradCase& shape, int m,
                        const DeviceSpec& spec);

// The m of `tiles` that takes the least time by that, the first of equal ones.
// REQUIRES: there is one.
int FastestWinogradTile(const WinogradCase& shape, absl::Span<const int> tiles,
                        const DeviceSpec& spec);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_WINOGRAD_COST_H_
