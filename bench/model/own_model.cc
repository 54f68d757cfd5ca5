#include "bench/model/own_model.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "compiler/compile.h"
#include "frontends/onnx/import_model.h"
#include "onnx/onnx_pb.h"
#include "runtime/format/element_type.h"
#include "runtime/model.h"

namespace tilewright::bench {
namespace {

constexpr std::pair<ElementType, int> kTypes[] = {
    {BOOL, onnx::TensorProto::BOOL},
    {INT8, onnx::TensorProto::INT8},
    {INT16, onnx::TensorProto::INT16},
    {INT32, onnx::TensorProto::INT32},
    {INT64, onnx::TensorProto::INT64},
    {UINT8, onnx::TensorProto::UINT8},
    {UINT16, onnx::TensorProto::UINT16},
    {UINT32, onnx::TensorProto::UINT32},
    {UINT64, onnx::TensorProto::UINT64},
    {FLOAT16, onnx::TensorProto::FLOAT16},
    {BFLOAT16, onnx::TensorProto::BFLOAT16},
    {FLOAT32, onnx::TensorProto::FLOAT},
    {FLOAT64, onnx::TensorProto::DOUBLE},
};

int OnnxType(ElementType type) {
  for (const auto& [own, theirs] : kTypes) {
    if (own == type) return theirs;
  }
  return onnx::TensorProto::UNDEFINED;
}

double ProcessCpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

OrtTensor EmptyTensor(const TensorSpec& spec) {
  OrtTensor tensor;
  tensor.name = spec.name();
  tensor.data_type = OnnxType(spec.element_type());
  tensor.dims.assign(spec.shape().begin(), spec.shape().end());
  tensor.bytes.assign(static_cast<size_t>(SizeBytes(spec)), '\0');
  return tensor;
}

}  // namespace

CompileOptions FuseEverything() {
  CompileOptions options;
  options.plan.connect = PlanOptions::Connect::kTileGraph;
  options.connect.evaluate.least_gain = -1e9;
  return options;
}

CompileOptions FuseInRegisters() {
  CompileOptions options;
  options.plan.connect = PlanOptions::Connect::kRegister;
  return options;
}

absl::StatusOr<CompiledBytes> CompileForHost(const std::string& onnx_path,
                                             const CompileOptions& options,
                                             const TargetClass& target) {
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, SpecOf(target));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<backends::Codegen> codegen,
                      cpu::CreateCpuCodegen(spec));
  const double start = ProcessCpuSeconds();
  TW_ASSIGN_OR_RETURN(const ImportedModel imported, ImportModel(onnx_path));
  TW_ASSIGN_OR_RETURN(const CompiledModel compiled,
                      Compile(imported, *codegen, options));
  CompiledBytes result;
  result.tw = compiled.Serialize();
  result.compile_cpu_s = ProcessCpuSeconds() - start;
  result.fused_groups = static_cast<int>(
      std::count_if(compiled.plan.groups.begin(), compiled.plan.groups.end(),
                    [](const Group& group) { return !group.stages.empty(); }));
  return result;
}

absl::StatusOr<std::unique_ptr<OwnModel>> OwnModel::Load(const std::string& tw,
                                                         int threads) {
  TW_ASSIGN_OR_RETURN(std::unique_ptr<backends::Device> device,
                      cpu::CreateCpuDevice({.num_threads = threads}));
  std::unique_ptr<OwnModel> own(new OwnModel);
  TW_ASSIGN_OR_RETURN(own->model_,
                      Model::FromBytes(tw, std::shared_ptr<backends::Device>(
                                               std::move(device))));
  TW_ASSIGN_OR_RETURN(own->session_, Session::Create(own->model_));
  for (const TensorSpec& spec : own->program().outputs()) {
    TW_ASSIGN_OR_RETURN(std::unique_ptr<backends::DeviceBuffer> buffer,
                        own->model_->device().Allocate(SizeBytes(spec)));
    own->to_.push_back(buffer->address());
    own->outputs_.push_back(std::move(buffer));
  }
  return own;
}

double OwnModel::flops() const {
  double flops = 0;
  for (const Step& step : program().steps()) {
    if (step.has_launch())
      flops += static_cast<double>(
          program().kernels(step.launch().kernel()).flops());
  }
  return flops;
}

absl::Status OwnModel::Bind(const std::vector<OrtTensor>& inputs) {
  inputs_.clear(), from_.clear();
  for (int i = 0; i < program().inputs_size(); ++i) {
    const OrtTensor wanted = EmptyTensor(program().inputs(i));
    auto given =
        std::find_if(inputs.begin(), inputs.end(),
                     [&](const OrtTensor& t) { return t.name == wanted.name; });
    if (given == inputs.end() && i < static_cast<int>(inputs.size()) &&
        inputs[i].name.empty())
      given = inputs.begin() + i;
    if (given == inputs.end())
      return absl::InvalidArgumentError(
          absl::StrCat("no value for input '", wanted.name, "'"));
    if (given->data_type != wanted.data_type || given->dims != wanted.dims ||
        given->bytes.size() != wanted.bytes.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the value for input '", wanted.name,
          "' has another type or shape than ", ToString(program().inputs(i))));
    }
    TW_ASSIGN_OR_RETURN(
        std::unique_ptr<backends::DeviceBuffer> buffer,
        model_->device().Allocate(static_cast<int64_t>(given->bytes.size())));
    std::memcpy(buffer->address(), given->bytes.data(), given->bytes.size());
    from_.push_back(buffer->address());
    inputs_.push_back(std::move(buffer));
  }
  return absl::OkStatus();
}

absl::Status OwnModel::Run() { return session_->Run(from_, to_); }

absl::Status OwnModel::RunSteps(const std::function<void(int step)>& on_step) {
  return session_->RunSteps(from_, to_, on_step);
}

std::vector<OrtTensor> OwnModel::Outputs() const {
  std::vector<OrtTensor> outputs;
  for (int i = 0; i < program().outputs_size(); ++i) {
    outputs.push_back(EmptyTensor(program().outputs(i)));
    std::memcpy(outputs.back().bytes.data(), to_[i],
                outputs.back().bytes.size());
  }
  return outputs;
}

absl::StatusOr<double> LoadSeconds(const std::string& tw) {
  std::string path =
      absl::StrCat(getenv("TMPDIR") != nullptr ? getenv("TMPDIR") : "/tmp",
                   "/tilewright_XXXXXX");
  const int fd = mkstemp(path.data());
  if (fd < 0) return absl::UnavailableError("cannot make a temporary file");
  close(fd);
  absl::Status status = WriteFileAtomically(path, tw);
  double best = 1e300;
  for (int i = 0; i < 3 && status.ok(); ++i) {
    const int64_t start_ns = RealClock()->WallNs();
    absl::StatusOr<std::unique_ptr<backends::Device>> device =
        cpu::CreateCpuDevice();
    status = device.status();
    if (!status.ok()) break;
    const auto model = Model::Load(
        path, std::shared_ptr<backends::Device>(*std::move(device)));
    status = model.status();
    best = std::min(
        best, static_cast<double>(RealClock()->WallNs() - start_ns) * 1e-9);
  }
  unlink(path.c_str());
  if (!status.ok()) return status;
  return best;
}

}  // namespace tilewright::bench
