#include "measure/worker/loaded_candidate.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "measure/verify/check_arguments.h"

namespace tilewright::measure {
namespace {

absl::StatusOr<Arguments> ParseArguments(const BuiltCandidate& built,
                                         const TensorGraph& graph) {
  Arguments arguments;
  for (const BuiltCandidate::Argument& argument : built.arguments()) {
    TW_ASSIGN_OR_RETURN(Layout layout, Layout::Parse(argument.layout()));
    TW_RETURN_IF_ERROR(
        CheckArgument(graph, argument.tensor(), layout, argument.winograd()));
    arguments.tensors.push_back(argument.tensor());
    arguments.layouts.push_back(std::move(layout));
    arguments.winograd.push_back(argument.winograd());
  }
  return arguments;
}

constexpr int64_t kAlignment = 256;

}  // namespace

ModuleKernel LoadedCandidate::module_kernel() const {
  return {built_.module(), built_.target(), built_.kernel(), built_.num_tasks(),
          built_.scratch_bytes()};
}

absl::StatusOr<std::unique_ptr<LoadedCandidate>> LoadedCandidate::Load(
    backends::Device* device, backends::Stream* stream,
    const TensorGraph& graph, BuiltCandidate built) {
  std::unique_ptr<LoadedCandidate> loaded(
      new LoadedCandidate(stream, std::move(built)));
  TW_ASSIGN_OR_RETURN(loaded->arguments_,
                      ParseArguments(loaded->built_, graph));
  TW_ASSIGN_OR_RETURN(
      loaded->module_,
      device->LoadModule(loaded->built_.module(), loaded->built_.target()));
  TW_ASSIGN_OR_RETURN(
      loaded->kernel_,
      device->GetKernel(*loaded->module_, loaded->built_.kernel()));
  for (size_t i = 0; i < loaded->arguments_.tensors.size(); ++i) {
    const Tensor& tensor = graph.tensor(loaded->arguments_.tensors[i]);
    const int64_t size = loaded->arguments_.layouts[i].physical_elements() *
                         SizeBytes(tensor.dtype);
    loaded->offsets_.push_back(loaded->argument_bytes_);
    loaded->argument_bytes_ +=
        (size + kAlignment - 1) / kAlignment * kAlignment;
  }
  return loaded;
}

absl::Status LoadedCandidate::Place(void* memory, const TensorGraph& graph,
                                    const HiddenInputs& inputs,
                                    PackedTensors& packed) {
  args_.clear();
  for (size_t i = 0; i < arguments_.tensors.size(); ++i) {
    const Tensor& tensor = graph.tensor(arguments_.tensors[i]);
    const Layout& layout = arguments_.layouts[i];
    const PackedTensors::Bytes bytes =
        tensor.kind == TensorKind::kCompute
            ? packed.Unwritten(layout, tensor.dtype)
            : packed.Packed(absl::StrCat(tensor.id), layout,
                            inputs.at(tensor.id), arguments_.WinogradOf(i));
    args_.push_back(static_cast<char*>(memory) + offsets_[i]);
    TW_RETURN_IF_ERROR(
        stream_->Copy(args_.back(), bytes->data(), bytes->size_bytes()));
    TW_RETURN_IF_ERROR(stream_->Synchronize());
  }
  return absl::OkStatus();
}

}  // namespace tilewright::measure
