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
    int64_t& laid_bytes = tensor.kind == TensorKind::kConstant
                              ? loaded->constant_bytes_
                              : loaded->other_bytes_;
    loaded->offsets_.push_back(laid_bytes);
    laid_bytes += (size + kAlignment - 1) / kAlignment * kAlignment;
  }
  return loaded;
}

absl::Status LoadedCandidate::Place(void* memory, int constant_copies,
                                    const TensorGraph& graph,
                                    const HiddenInputs& inputs,
                                    PackedTensors& packed) {
  args_.assign(static_cast<size_t>(constant_copies), {});
  for (size_t i = 0; i < arguments_.tensors.size(); ++i) {
    const Tensor& tensor = graph.tensor(arguments_.tensors[i]);
    const Layout& layout = arguments_.layouts[i];
    const PackedTensors::Bytes bytes =
        tensor.kind == TensorKind::kCompute
            ? packed.Unwritten(layout, tensor.dtype)
            : packed.Packed(absl::StrCat(tensor.id), layout,
                            inputs.at(tensor.id), arguments_.WinogradOf(i));
    const bool is_constant = tensor.kind == TensorKind::kConstant;
    char* place = static_cast<char*>(memory) + offsets_[i] +
                  (is_constant ? other_bytes_ : 0);
    for (size_t copy = 0; copy < args_.size(); ++copy) {
      args_[copy].push_back(place);
      if (copy > 0 && !is_constant) continue;
      TW_RETURN_IF_ERROR(
          stream_->Copy(place, bytes->data(), bytes->size_bytes()));
      TW_RETURN_IF_ERROR(stream_->Synchronize());
      if (is_constant) place += constant_bytes_;
    }
  }
  return absl::OkStatus();
}

}  // namespace tilewright::measure
