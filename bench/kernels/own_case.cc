#include "bench/kernels/own_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "compiler/compile.h"
#include "tilegraph/interpret/interpreter.h"

namespace tilewright::bench {
namespace {

constexpr int kCheckedPoints = 64;        // per output
constexpr double kCheckTolerance = 1e-4;  // of the largest value seen

std::vector<OrtTensor> DrawInputs(const ImportedModel& imported) {
  Random random(2);
  std::vector<OrtTensor> inputs;
  for (const Port& port : imported.inputs) {
    OrtTensor tensor;
    tensor.name = port.name;
    tensor.data_type = onnx::TensorProto::FLOAT;
    tensor.dims = port.shape;
    int64_t elements = 1;
    for (const int64_t extent : port.shape) elements *= extent;
    std::vector<float> values(static_cast<size_t>(elements));
    for (float& value : values) value = static_cast<float>(random.Normal());
    tensor.bytes.assign(reinterpret_cast<const char*>(values.data()),
                        values.size() * sizeof(float));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

float FloatAt(const OrtTensor& tensor, int64_t element) {
  float value;
  std::memcpy(&value, tensor.bytes.data() + element * sizeof(float),
              sizeof(float));
  return value;
}

// Whether a step only serves the frame around the case.
bool IsFrame(absl::string_view label) {
  for (const absl::string_view name : absl::StrSplit(label, ' ')) {
    if (!absl::StartsWith(name, "stem") && !absl::StartsWith(name, "tail"))
      return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::unique_ptr<OwnCase>> OwnCase::Create(
    const onnx::ModelProto& model, int threads, const TargetClass& target,
    ScheduleSource* schedules) {
  std::unique_ptr<OwnCase> own(new OwnCase);
  own->threads_ = threads;
  TW_ASSIGN_OR_RETURN(own->imported_, ImportModelProto(model));
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, SpecOf(target));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<backends::Codegen> codegen,
                      cpu::CreateCpuCodegen(spec));
  // The frame must stay out of the case's kernels.
  CompileOptions options;
  options.plan.connect = PlanOptions::Connect::kRegister;
  options.schedules = schedules;
  TW_ASSIGN_OR_RETURN(const CompiledModel compiled,
                      Compile(own->imported_, *codegen, options));
  TW_ASSIGN_OR_RETURN(own->model_,
                      OwnModel::Load(compiled.Serialize(), threads));
  own->inputs_ = DrawInputs(own->imported_);
  TW_RETURN_IF_ERROR(own->model_->Bind(own->inputs_));
  own->FindCounted();
  return own;
}

void OwnCase::FindCounted() {
  const Program& program = model_->program();
  counted_.assign(program.steps_size(), true);
  for (int i = program.steps_size() - 1; i >= 0; --i) {
    const Step& step = program.steps(i);
    if (step.has_launch()) {
      const KernelInfo& kernel = program.kernels(step.launch().kernel());
      counted_[i] = !IsFrame(kernel.label());
      if (!counted_[i]) continue;
      ++num_kernels_;
      spills_ += kernel.spills();
    } else if (step.has_zero() && i + 1 < program.steps_size()) {
      counted_[i] = counted_[i + 1];  // prepares the launch that follows
    }
  }
}

absl::Status OwnCase::Check() {
  TW_RETURN_IF_ERROR(model_->Run());
  std::map<TensorId, HostTensor> by_tensor;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    HostTensor tensor(DType::kFloat32, inputs_[i].dims);
    std::memcpy(tensor.data(), inputs_[i].bytes.data(),
                inputs_[i].bytes.size());
    by_tensor[imported_.inputs[i].tensor] = std::move(tensor);
  }
  TW_ASSIGN_OR_RETURN(
      const std::unique_ptr<Interpreter> reference,
      Interpreter::Create(imported_.graph, std::move(by_tensor), {}));
  const std::vector<OrtTensor> outputs = model_->Outputs();
  Random random(3);
  for (size_t o = 0; o < outputs.size(); ++o) {
    const std::vector<int64_t>& shape = outputs[o].dims;
    const auto elements =
        static_cast<int64_t>(outputs[o].bytes.size() / sizeof(float));
    double largest = 0, error = 0;
    for (int n = 0; n < kCheckedPoints; ++n) {
      const int64_t point =
          n == 0 ? elements - 1 : random.UniformInt(0, elements - 1);
      std::vector<int64_t> index(shape.size());
      int64_t rest = point;
      for (size_t d = shape.size(); d-- > 0;)
        index[d] = rest % shape[d], rest /= shape[d];
      TW_ASSIGN_OR_RETURN(const Scalar want,
                          reference->At(imported_.outputs[o].tensor, index));
      const double difference = std::abs(FloatAt(outputs[o], point) - want.f);
      // Not max: NaN must not get lost.
      if (!(difference <= error)) error = difference;
      largest = std::max(largest, std::abs(want.f));
    }
    if (!(error <= kCheckTolerance * largest)) {
      return absl::DataLossError(absl::StrCat(
          "output '", outputs[o].name, "' differs from the reference by ",
          error, " where the largest value is ", largest));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> OwnCase::RunNs() {
  Clock* const clock = RealClock();
  const auto now_ns = [&] {
    return threads_ == 1 ? clock->ThreadCpuNs() : clock->WallNs();
  };
  int64_t counted_ns = 0;
  int64_t last_ns = now_ns();
  TW_RETURN_IF_ERROR(model_->RunSteps([&](int step) {
    const bool next_counts =
        step + 1 < static_cast<int>(counted_.size()) && counted_[step + 1];
    if (!counted_[step] && !next_counts) return;
    const int64_t now = now_ns();
    if (counted_[step]) counted_ns += now - last_ns;
    last_ns = now;
  }));
  return counted_ns;
}

}  // namespace tilewright::bench
