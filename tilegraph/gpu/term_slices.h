// Into how many slices the terms of a sum are cut for a GPU
// (tilegraph/rewrite/split_terms.h): those with which its tiles cost least, the
// sum of the slices as a kernel of its own counted.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_TERM_SLICES_H_
#define TILEWRIGHT_TILEGRAPH_GPU_TERM_SLICES_H_

#include <cstdint>
#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "tilegraph/gpu/gpu_tiling.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// By tensor. 1: it stays whole, as what is no sum, gains little, or has no
// tiles. Tiles of several sums are looked for on as many `threads`. REQUIRES:
// GpuLevelsOf(spec).
std::vector<int64_t> TermSlices(const TensorGraph& graph,
                                const DeviceSpec& spec,
                                const GpuTilingOptions& options, int threads);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_TERM_SLICES_H_
