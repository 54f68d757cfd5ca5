#include "measure/worker/loaded_candidate.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "measure/physical.h"

namespace tilewright::measure {
namespace {

absl::StatusOr<Arguments> ParseArguments(const BuiltCandidate& built,
                                         const TensorGraph& graph) {
  Arguments arguments;
  for (const BuiltCandidate::Argument& argument : built.arguments()) {
    if (argument.tensor() < 0 || argument.tensor() >= graph.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the workload has no tensor ", argument.tensor()));
    }
    TW_ASSIGN_OR_RETURN(Layout layout, Layout::Parse(argument.layout()));
    if (layout.shape() != graph.tensor(argument.tensor()).static_shape()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the layout of '", graph.tensor(argument.tensor()).name,
                       "' has another shape than the tensor"));
    }
    arguments.tensors.push_back(argument.tensor());
    arguments.layouts.push_back(std::move(layout));
  }
  return arguments;
}

constexpr int64_t kAlignment = 256;

std::string Unpacked(const Tensor& tensor, const Layout& layout) {
  return std::string(
      static_cast<size_t>(layout.physical_elements() * SizeBytes(tensor.dtype)),
      '\0');
}

}  // namespace

const std::string& PackedInputs::Get(const Tensor& tensor,
                                     const Layout& layout) {
  std::map<std::string, std::string>& known = packed_[tensor.id];
  const std::string key = layout.ToString();
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  if (known.size() >= kKept) known.clear();
  std::string bytes = Unpacked(tensor, layout);
  FillPhysical(layout, inputs_.at(tensor.id), bytes.data());
  return known[key] = std::move(bytes);
}

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
                                    PackedInputs& inputs) {
  args_.clear();
  for (size_t i = 0; i < arguments_.tensors.size(); ++i) {
    const Tensor& tensor = graph.tensor(arguments_.tensors[i]);
    const Layout& layout = arguments_.layouts[i];
    std::string unwritten;
    if (tensor.kind == TensorKind::kCompute) {
      unwritten = Unpacked(tensor, layout);
      FillUnwritten(layout, tensor.dtype, unwritten.data());
    }
    const std::string& bytes = tensor.kind == TensorKind::kCompute
                                   ? unwritten
                                   : inputs.Get(tensor, layout);
    args_.push_back(static_cast<char*>(memory) + offsets_[i]);
    TW_RETURN_IF_ERROR(stream_->Copy(args_.back(), bytes.data(),
                                     static_cast<int64_t>(bytes.size())));
    TW_RETURN_IF_ERROR(stream_->Synchronize());
  }
  return absl::OkStatus();
}

}  // namespace tilewright::measure
