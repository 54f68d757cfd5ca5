#include "tools/gpu/graph_on_device.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::cuda {

std::map<TensorId, HostTensor> RandomInputs(const TensorGraph& graph,
                                            uint64_t seed) {
  std::map<TensorId, HostTensor> inputs;
  Random random(seed);
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kPlaceholder) continue;
    HostTensor values(tensor.dtype, tensor.static_shape());
    const int64_t elements = values.num_elements();
    for (int64_t i = 0; i < elements; ++i)
      values.Set(i, {random.Uniform(-1, 1), 0});
    inputs[tensor.id] = std::move(values);
  }
  return inputs;
}

absl::StatusOr<std::unique_ptr<GraphOnDevice>> GraphOnDevice::Load(
    backends::Device* device, const PlannedGraph* planned,
    const std::map<TensorId, HostTensor>& inputs) {
  std::unique_ptr<GraphOnDevice> loaded(new GraphOnDevice(planned));
  TW_ASSIGN_OR_RETURN(loaded->stream_, device->CreateStream());
  TW_ASSIGN_OR_RETURN(loaded->module_,
                      device->LoadModule(planned->module, planned->target));
  for (const PlannedKernel& kernel : planned->kernels) {
    TW_ASSIGN_OR_RETURN(
        auto function,
        device->GetKernel(*loaded->module_, kernel.kernel.scalar.name));
    loaded->kernels_.push_back(std::move(function));
    std::vector<void*>& args = loaded->args_.emplace_back();
    for (size_t i = 0; i < kernel.args.size(); ++i) {
      const TensorId id = kernel.args[i];
      const Layout& layout = kernel.kernel.arg_layouts[i];
      const Tensor& tensor = planned->graph.tensor(id);
      if (!(layout == Layout::RowMajor(tensor.static_shape()))) {
        return absl::UnimplementedError(absl::StrCat(
            "tensor ", tensor.name, " lies as ", layout.ToString()));
      }
      auto& buffer = loaded->buffers_[id];
      if (buffer == nullptr) {
        const int64_t bytes =
            layout.physical_elements() * SizeBytes(tensor.dtype);
        TW_ASSIGN_OR_RETURN(buffer, device->Allocate(bytes));
        const auto input = inputs.find(id);
        TW_RETURN_IF_ERROR(
            input == inputs.end()
                ? loaded->stream_->Fill(buffer->address(), 0xff, bytes)
                : loaded->stream_->Copy(buffer->address(), input->second.data(),
                                        bytes));
      }
      args.push_back(buffer->address());
    }
  }
  TW_RETURN_IF_ERROR(loaded->stream_->Synchronize());
  return loaded;
}

absl::Status GraphOnDevice::Launch(size_t kernel) {
  const kernel_ir::ScalarKernel& scalar =
      planned_->kernels[kernel].kernel.scalar;
  return stream_->Launch(*kernels_[kernel], args_[kernel], scalar.num_tasks,
                         scalar.scratch_bytes);
}

absl::Status GraphOnDevice::LaunchAll() {
  for (size_t i = 0; i < kernels_.size(); ++i) TW_RETURN_IF_ERROR(Launch(i));
  return absl::OkStatus();
}

absl::StatusOr<std::string> GraphOnDevice::Bytes(TensorId tensor) {
  const backends::DeviceBuffer& buffer = *buffers_.at(tensor);
  std::string bytes(static_cast<size_t>(buffer.size_bytes()), '\0');
  TW_RETURN_IF_ERROR(
      stream_->Copy(&bytes[0], buffer.address(), buffer.size_bytes()));
  TW_RETURN_IF_ERROR(stream_->Synchronize());
  return bytes;
}

}  // namespace tilewright::cuda
