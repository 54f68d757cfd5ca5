#ifndef TILEWRIGHT_TOOLS_GPU_GRAPH_ON_DEVICE_H_
#define TILEWRIGHT_TOOLS_GPU_GRAPH_ON_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/device.h"
#include "tilegraph/expr/host_tensor.h"
#include "tools/gpu/planned_graph.h"

namespace tilewright::cuda {

// Values for all placeholders, uniform in [-1, 1], by `seed`.
std::map<TensorId, HostTensor> RandomInputs(const TensorGraph& graph,
                                            uint64_t seed = 1);

// A planned graph with its module, a buffer for each tensor that kernels read
// or write, and a stream.
class GraphOnDevice {
 public:
  // All bits of what kernels write are set at first. `device` and `planned`
  // must outlive it.
  static absl::StatusOr<std::unique_ptr<GraphOnDevice>> Load(
      backends::Device* device, const PlannedGraph* planned,
      const std::map<TensorId, HostTensor>& inputs);

  backends::Stream& stream() { return *stream_; }
  absl::Status Launch(size_t kernel);
  absl::Status LaunchAll();
  // Where the tensor lies.
  void* AddressOf(TensorId tensor) const {
    return buffers_.at(tensor)->address();
  }
  // The bytes of it, when all work has ended.
  absl::StatusOr<std::string> Bytes(TensorId tensor);

 private:
  explicit GraphOnDevice(const PlannedGraph* planned) : planned_(planned) {}

  const PlannedGraph* const planned_;
  std::unique_ptr<backends::Stream> stream_;
  std::unique_ptr<backends::DeviceModule> module_;
  std::vector<std::unique_ptr<backends::DeviceKernel>> kernels_;
  std::map<TensorId, std::unique_ptr<backends::DeviceBuffer>> buffers_;
  std::vector<std::vector<void*>> args_;  // by kernel
};

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_TOOLS_GPU_GRAPH_ON_DEVICE_H_
