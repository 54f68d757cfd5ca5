#include "bench/fuzz/own_case.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/spec/host_spec.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "compiler/compile.h"
#include "frontends/onnx/graph/load_model.h"
#include "frontends/onnx/import_model.h"
#include "runtime/format/element_type.h"
#include "runtime/model.h"
#include "runtime/session.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/ir/verifier.h"

namespace tilewright::bench {
namespace {

constexpr int64_t kMostBytes = int64_t{256} << 20;
constexpr int64_t kFuzzDim = 3;

int32_t OnnxType(ElementType type) {
  static constexpr int32_t kTypes[] = {0, 9,  3,  5,  6,  7, 2,
                                       4, 12, 13, 10, 16, 1, 11};
  return kTypes[type];
}

double WorkOf(const TensorGraph& graph) {
  double work = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute) continue;
    double terms = static_cast<double>(tensor.num_elements());
    for (const Axis& axis : tensor.compute.reduce_axes)
      terms *= static_cast<double>(axis.extent.value());
    work += terms;
  }
  return work;
}

int64_t BoundaryBytes(const Program& program) {
  int64_t bytes = 0;
  for (const auto* tensors : {&program.inputs(), &program.outputs()}) {
    for (const TensorSpec& spec : *tensors) {
      const int64_t own = SizeBytes(spec);
      if (own > kMostBytes) return own;
      bytes += own;
    }
  }
  return bytes;
}

FuzzAnswer Refused(std::string stage, const absl::Status& status) {
  return {"refused", std::move(stage), std::string(status.message()), {}};
}

OrtTensor Draw(const TensorSpec& spec, uint64_t seed) {
  return DrawTensor(spec.name(), OnnxType(spec.element_type()),
                    {spec.shape().begin(), spec.shape().end()}, seed);
}

}  // namespace

std::map<std::string, int64_t> FuzzDims(const onnx::ModelProto& model) {
  std::map<std::string, int64_t> dims;
  for (const auto& input : model.graph().input()) {
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      if (dim.has_dim_param()) dims[dim.dim_param()] = kFuzzDim;
    }
  }
  // An initializer of that name makes the input's dimensions unused.
  for (const auto& tensor : model.graph().initializer()) {
    for (const auto& input : model.graph().input()) {
      if (input.name() == tensor.name()) return {};
    }
  }
  return dims;
}

absl::StatusOr<std::unique_ptr<OwnCase>> OwnCase::Create() {
  std::unique_ptr<OwnCase> own(new OwnCase);
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, HostSpec());
  TW_ASSIGN_OR_RETURN(own->codegen_, cpu::CreateCpuCodegen(spec));
  TW_ASSIGN_OR_RETURN(own->device_, cpu::CreateCpuDevice({.num_threads = 1}));
  return own;
}

absl::StatusOr<std::string> OwnCase::CompileToTw(
    const onnx::ModelProto& model) const {
  TW_ASSIGN_OR_RETURN(const ImportedModel imported, ImportModelProto(model));
  TW_ASSIGN_OR_RETURN(const CompiledModel compiled,
                      Compile(imported, *codegen_, {}));
  return compiled.Serialize();
}

FuzzAnswer OwnCase::Run(const onnx::ModelProto& model, uint64_t seed,
                        double max_work) const {
  absl::StatusOr<onnx::ModelProto> loaded =
      ParseModel(model.SerializeAsString(), "fuzzed");
  if (!loaded.ok()) return Refused("load", loaded.status());
  ImportOptions options;
  options.dims = FuzzDims(model);
  const absl::StatusOr<ImportedModel> imported =
      ImportModelProto(*std::move(loaded), options);
  if (!imported.ok()) return Refused("import", imported.status());
  TW_CHECK_OK(VerifyGraph(imported->graph));
  const absl::StatusOr<CompiledModel> compiled =
      Compile(*imported, *codegen_, {});
  if (!compiled.ok()) return Refused("compile", compiled.status());
  const absl::StatusOr<std::shared_ptr<const Model>> loaded_model =
      Model::FromBytes(compiled->Serialize(), device_);
  if (!loaded_model.ok()) return Refused("load .tw", loaded_model.status());
  const absl::StatusOr<std::unique_ptr<Session>> session =
      Session::Create(*loaded_model);
  if (!session.ok()) return Refused("session", session.status());
  const Program& program = (*loaded_model)->program();
  if (WorkOf(imported->graph) > max_work ||
      BoundaryBytes(program) > kMostBytes ||
      program.arena_bytes() > kMostBytes) {
    return {"large", "", "", {}};
  }
  FuzzAnswer answer{"ran", "", "", {}};
  std::vector<OrtTensor> inputs;
  std::vector<const void*> from;
  std::vector<void*> to;
  for (const TensorSpec& spec : program.inputs())
    inputs.push_back(Draw(spec, seed));
  for (const TensorSpec& spec : program.outputs()) {
    answer.outputs.push_back(Draw(spec, seed));
    answer.outputs.back().bytes.assign(answer.outputs.back().bytes.size(),
                                       '\x5a');
  }
  for (const OrtTensor& tensor : inputs) from.push_back(tensor.bytes.data());
  for (OrtTensor& tensor : answer.outputs) to.push_back(tensor.bytes.data());
  const absl::Status status = (*session)->Run(from, to);
  return status.ok() ? answer : Refused("run", status);
}

}  // namespace tilewright::bench
