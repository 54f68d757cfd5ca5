// Into how many slices the terms of a sum are cut for a GPU
// (tilegraph/rewrite/split_terms.h): those with which its tiles cost least, the
// sum of the slices as a kernel of its own counted.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_TERM_SLICES_H_
#define TILEWRIGHT_TILEGRAPH_GPU_TERM_SLICES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "backends/spec/device_spec.pb.h"
#include "tilegraph/gpu/gpu_tiling.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Not thread-safe: remembers equal computes.
class TermSlices {
 public:
  // Both must outlive it. REQUIRES: GpuLevelsOf(spec).
  TermSlices(const TensorGraph& graph, const DeviceSpec& spec,
             const GpuTilingOptions& options)
      : graph_(graph), spec_(spec), options_(options) {}

  // 1: it stays whole, as what gains little, or has no tiles.
  int64_t Of(const Tensor& tensor);

 private:
  // Of a graph of sums, each as a kernel, in slices; nullopt if one has no
  // tiles.
  std::optional<double> Seconds(const TensorGraph& sums, int64_t slices) const;

  const TensorGraph& graph_;
  const DeviceSpec& spec_;
  const GpuTilingOptions options_;
  std::map<std::string, int64_t> known_;  // by the text of the compute alone
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_TERM_SLICES_H_
