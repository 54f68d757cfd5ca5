#include "compiler/interpreted_model.h"

#include <cstring>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "backends/kernel_ir/interpreter.h"
#include "base/status_macros.h"
#include "runtime/format/program.pb.h"

namespace tilewright {
namespace {

// The memory of one run.
class Run {
 public:
  Run(const CompiledModel& compiled, std::vector<HostTensor> inputs)
      : compiled_(compiled),
        program_(compiled.program),
        inputs_(std::move(inputs)),
        constants_(compiled.constants),
        arena_(static_cast<size_t>(program_.arena_bytes()), '\0') {
    for (const TensorId output : compiled.graph.outputs()) {
      const Tensor& tensor = compiled.graph.tensor(output);
      outputs_.emplace_back(tensor.dtype, tensor.static_shape());
    }
  }

  absl::Status Take(const Step& step) {
    if (step.has_launch()) return RunKernel(step.launch());
    if (step.has_copy()) {
      CopyBox(step.copy(), At(step.copy().to()), At(step.copy().from()), 0);
    } else {
      ZeroBox(step.zero(), At(step.zero().to()), 0);
    }
    return absl::OkStatus();
  }

  std::vector<HostTensor> TakeOutputs() && { return std::move(outputs_); }

 private:
  char* At(const Place& place) {
    const ProgramBuffer& buffer = program_.buffers(place.buffer());
    const auto index = static_cast<size_t>(buffer.index());
    const int64_t offset = buffer.offset_bytes() + place.offset_bytes();
    switch (buffer.kind()) {
      case ProgramBuffer::INPUT:
        return inputs_[index].data() + place.offset_bytes();
      case ProgramBuffer::OUTPUT:
        return outputs_[index].data() + place.offset_bytes();
      case ProgramBuffer::CONSTANT:
        return constants_.data() + offset;
      default:
        return arena_.data() + offset;
    }
  }

  absl::Status RunKernel(const Launch& launch) {
    const KernelInfo& info = program_.kernels(launch.kernel());
    const kernel_ir::ScalarKernel& kernel =
        compiled_.kernels[static_cast<size_t>(launch.kernel())].scalar;
    std::vector<std::string> args;
    for (int i = 0; i < launch.args_size(); ++i)
      args.emplace_back(At(launch.args(i)),
                        static_cast<size_t>(info.args(i).size_bytes()));
    const absl::Status status = kernel_ir::InterpretScalarKernel(
        kernel, absl::MakeSpan(args), 0, kernel.num_tasks);
    if (!status.ok())
      return absl::Status(status.code(),
                          absl::StrCat(info.name(), ": ", status.message()));
    for (int i = 0; i < launch.args_size(); ++i) {
      const std::string& arg = args[static_cast<size_t>(i)];
      if (info.args(i).written())
        std::memcpy(At(launch.args(i)), arg.data(), arg.size());
    }
    return absl::OkStatus();
  }

  void CopyBox(const Copy& copy, char* to, const char* from, int depth) {
    if (depth == copy.repeats_size()) {
      std::memmove(to, from, static_cast<size_t>(copy.size_bytes()));
      return;
    }
    const Copy::Repeat& repeat = copy.repeats(depth);
    for (int64_t i = 0; i < repeat.count(); ++i)
      CopyBox(copy, to + i * repeat.to_stride_bytes(),
              from + i * repeat.from_stride_bytes(), depth + 1);
  }

  void ZeroBox(const Zero& zero, char* to, int depth) {
    if (depth == zero.repeats_size()) {
      std::memset(to, 0, static_cast<size_t>(zero.size_bytes()));
      return;
    }
    const Zero::Repeat& repeat = zero.repeats(depth);
    for (int64_t i = 0; i < repeat.count(); ++i)
      ZeroBox(zero, to + i * repeat.stride_bytes(), depth + 1);
  }

  const CompiledModel& compiled_;
  const Program& program_;
  std::vector<HostTensor> inputs_, outputs_;
  std::string constants_, arena_;
};

}  // namespace

absl::StatusOr<std::vector<HostTensor>> InterpretModel(
    const CompiledModel& compiled, const std::vector<HostTensor>& inputs) {
  Run run(compiled, inputs);
  for (const Step& step : compiled.program.steps())
    TW_RETURN_IF_ERROR(run.Take(step));
  return std::move(run).TakeOutputs();
}

}  // namespace tilewright
