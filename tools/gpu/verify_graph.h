// Whether a graph on a device computed what it should.
#ifndef TILEWRIGHT_TOOLS_GPU_VERIFY_GRAPH_H_
#define TILEWRIGHT_TOOLS_GPU_VERIFY_GRAPH_H_

#include <cstdint>
#include <map>

#include "absl/status/statusor.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/reference/verify_output.h"
#include "tools/gpu/check_graphs.h"
#include "tools/gpu/graph_on_device.h"
#include "tools/gpu/planned_graph.h"

namespace tilewright::cuda {

// Compares some rows of the outputs, the first and the last among them, with
// the float64 reference of these rows (tilegraph/reference): one verdict of
// all. REQUIRES: `on` holds `graph` on `inputs`, and all its kernels ran.
absl::StatusOr<OutputVerdict> VerifyRows(
    const CheckGraph& graph, const PlannedGraph& planned,
    const std::map<TensorId, HostTensor>& inputs, GraphOnDevice& on);

// Runs the kernels in the interpreter of the scalar tier as well: how many
// bytes of the outputs are others there. REQUIRES: as above.
absl::StatusOr<int64_t> BytesUnlikeInterpreter(
    const PlannedGraph& planned, const std::map<TensorId, HostTensor>& inputs,
    GraphOnDevice& on);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_TOOLS_GPU_VERIFY_GRAPH_H_
