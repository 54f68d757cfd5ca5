#include "bench/ort/ort_session.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bench/ort/ort_api.h"

namespace tilewright::bench {
namespace {

// Bytes of one element of an onnx.TensorProto.DataType; 0 for types without a
// fixed size.
size_t ElementSizeBytes(int data_type) {
  switch (data_type) {
    case 2:  // uint8
    case 3:  // int8
    case 9:  // bool
      return 1;
    case 4:   // uint16
    case 5:   // int16
    case 10:  // float16
    case 16:  // bfloat16
      return 2;
    case 1:   // float
    case 6:   // int32
    case 12:  // uint32
      return 4;
    case 7:   // int64
    case 11:  // double
    case 13:  // uint64
      return 8;
    default:
      return 0;
  }
}

absl::Status ToStatus(ort::Table api, ort::Status* error) {
  if (error == nullptr) return absl::OkStatus();
  const std::string message = ort::GetErrorMessage::In(api)(error);
  ort::ReleaseStatus::In(api)(error);
  return absl::InvalidArgumentError(absl::StrCat("ONNX Runtime: ", message));
}

// Calls table entry `Function` and turns its result into an absl::Status.
template <typename Function, typename... Args>
absl::Status Call(ort::Table api, Args... args) {
  return ToStatus(api, Function::In(api)(args...));
}

absl::StatusOr<const ort::ApiBase*> Load(const std::string& path) {
  // Never closed: its threads may outlive a session.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("no ONNX Runtime: ", dlerror(),
                     "; unpack libonnxruntime.so.1 from the npm package "
                     "onnxruntime-node and give its path with --ort"));
  }
  auto get = reinterpret_cast<ort::GetApiBase>(dlsym(library, "OrtGetApiBase"));
  if (get == nullptr) {
    return absl::NotFoundError(
        absl::StrCat(path, " is not ONNX Runtime: it has no OrtGetApiBase"));
  }
  return get();
}

}  // namespace

struct OrtSession::State {
  ort::Table api = nullptr;
  ort::Env* env = nullptr;
  ort::SessionOptions* options = nullptr;
  ort::Session* session = nullptr;
  ort::MemoryInfo* memory = nullptr;
  ort::Allocator* allocator = nullptr;
  std::vector<OrtTensor> inputs;  // owns the memory behind input_values
  std::vector<ort::Value*> input_values;
  std::vector<ort::Value*> output_values;

  void ReleaseValues(std::vector<ort::Value*>* values) {
    for (ort::Value* value : *values) {
      if (value != nullptr) ort::ReleaseValue::In(api)(value);
    }
    values->clear();
  }

  ~State() {
    if (api == nullptr) return;
    ReleaseValues(&input_values);
    ReleaseValues(&output_values);
    if (session != nullptr) ort::ReleaseSession::In(api)(session);
    if (options != nullptr) ort::ReleaseSessionOptions::In(api)(options);
    if (memory != nullptr) ort::ReleaseMemoryInfo::In(api)(memory);
    if (env != nullptr) ort::ReleaseEnv::In(api)(env);
  }

  absl::Status Create(const std::string& model_path, const OrtOptions& how) {
    absl::Status status =
        Call<ort::CreateEnv>(api, ort::kLogWarning, "tilewright", &env);
    if (status.ok()) status = Call<ort::CreateSessionOptions>(api, &options);
    if (status.ok()) {
      status = Call<ort::SetExecutionMode>(api, options, ort::kSequential);
    }
    if (status.ok()) {
      status =
          Call<ort::SetOptimizationLevel>(api, options, ort::kAllOptimizations);
    }
    if (status.ok()) {
      status = Call<ort::SetIntraOpThreads>(api, options, how.threads);
    }
    if (status.ok()) status = Call<ort::SetInterOpThreads>(api, options, 1);
    if (status.ok() && !how.profile_prefix.empty()) {
      status =
          Call<ort::EnableProfiling>(api, options, how.profile_prefix.c_str());
    }
    if (status.ok()) {
      status = Call<ort::CreateSession>(api, env, model_path.c_str(), options,
                                        &session);
    }
    if (status.ok()) {
      status = Call<ort::CpuMemory>(api, ort::kDeviceAllocator,
                                    ort::kDefaultMemory, &memory);
    }
    if (status.ok()) status = Call<ort::DefaultAllocator>(api, &allocator);
    return status;
  }

  // The names of all inputs (InputCount, InputName) or outputs.
  template <typename Count, typename Name>
  absl::Status Names(std::vector<std::string>* names) {
    size_t count = 0;
    absl::Status status = Call<Count>(api, session, &count);
    for (size_t i = 0; status.ok() && i < count; ++i) {
      char* name = nullptr;
      status = Call<Name>(api, session, i, allocator, &name);
      if (!status.ok()) break;
      names->push_back(name);
      status = Call<ort::AllocatorFree>(api, allocator, name);
    }
    return status;
  }

  absl::StatusOr<OrtTensor> Read(ort::Value* value) const {
    OrtTensor tensor;
    ort::TensorInfo* info = nullptr;
    absl::Status status = Call<ort::GetTensorInfo>(api, value, &info);
    if (!status.ok()) return status;
    size_t rank = 0;
    size_t count = 0;
    int type = 0;
    status = Call<ort::Rank>(api, info, &rank);
    if (status.ok()) {
      tensor.dims.resize(rank);
      status = Call<ort::Dims>(api, info, tensor.dims.data(), rank);
    }
    if (status.ok()) status = Call<ort::ElementType>(api, info, &type);
    if (status.ok()) status = Call<ort::ElementCount>(api, info, &count);
    ort::ReleaseTensorInfo::In(api)(info);
    void* data = nullptr;
    if (status.ok()) status = Call<ort::TensorData>(api, value, &data);
    if (!status.ok()) return status;
    const size_t element_bytes = ElementSizeBytes(type);
    if (element_bytes == 0) {
      return absl::UnimplementedError(absl::StrCat(
          "an output has the data type ", type, ", which has no fixed size"));
    }
    tensor.data_type = type;
    tensor.bytes.assign(static_cast<const char*>(data), count * element_bytes);
    return tensor;
  }
};

OrtSession::OrtSession(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
OrtSession::~OrtSession() = default;

absl::StatusOr<std::unique_ptr<OrtSession>> OrtSession::Open(
    const std::string& library_path, const std::string& model_path,
    const OrtOptions& options) {
  absl::StatusOr<const ort::ApiBase*> base = Load(library_path);
  if (!base.ok()) return base.status();
  auto state = std::make_unique<State>();
  state->api = (*base)->get_api(ort::kApiVersion);
  if (state->api == nullptr) {
    return absl::NotFoundError(
        absl::StrCat(library_path, " does not offer its interface version ",
                     ort::kApiVersion));
  }
  absl::Status status = state->Create(model_path, options);
  std::unique_ptr<OrtSession> session(new OrtSession(std::move(state)));
  if (status.ok()) {
    status = session->state_->Names<ort::InputCount, ort::InputName>(
        &session->input_names_);
  }
  if (status.ok()) {
    status = session->state_->Names<ort::OutputCount, ort::OutputName>(
        &session->output_names_);
  }
  if (!status.ok()) return status;
  session->version_ = (*base)->get_version_string();
  return session;
}

absl::Status OrtSession::Bind(const std::vector<OrtTensor>& inputs) {
  state_->ReleaseValues(&state_->input_values);
  state_->ReleaseValues(&state_->output_values);  // their shapes may change
  state_->inputs = inputs;
  if (inputs.size() != input_names_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the model takes ", input_names_.size(), " inputs (",
                     absl::StrJoin(input_names_, ", "), "), ", inputs.size(),
                     " were given"));
  }
  state_->input_values.assign(inputs.size(), nullptr);
  for (size_t i = 0; i < inputs.size(); ++i) {
    OrtTensor& input = state_->inputs[i];
    size_t position = i;
    if (!input.name.empty()) {
      position =
          std::find(input_names_.begin(), input_names_.end(), input.name) -
          input_names_.begin();
    }
    if (position == input_names_.size() ||
        state_->input_values[position] != nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", input.name, "' is not an input, or given twice; ",
                       "the inputs are ", absl::StrJoin(input_names_, ", ")));
    }
    absl::Status status = Call<ort::CreateTensor>(
        state_->api, state_->memory, static_cast<void*>(&input.bytes[0]),
        input.bytes.size(), input.dims.data(), input.dims.size(),
        input.data_type, &state_->input_values[position]);
    if (!status.ok()) return status;
  }
  state_->output_values.assign(output_names_.size(), nullptr);
  return absl::OkStatus();
}

absl::Status OrtSession::RunBound() {
  if (state_->output_values.size() != output_names_.size()) {
    return absl::FailedPreconditionError("Bind must succeed before RunBound");
  }
  std::vector<const char*> in_names, out_names;
  for (const std::string& name : input_names_) in_names.push_back(name.c_str());
  for (const std::string& name : output_names_) {
    out_names.push_back(name.c_str());
  }
  return Call<ort::Run>(state_->api, state_->session,
                        static_cast<const ort::RunOptions*>(nullptr),
                        in_names.data(), state_->input_values.data(),
                        in_names.size(), out_names.data(), out_names.size(),
                        state_->output_values.data());
}

absl::StatusOr<std::vector<OrtTensor>> OrtSession::Outputs() const {
  std::vector<OrtTensor> outputs;
  for (size_t i = 0; i < state_->output_values.size(); ++i) {
    if (state_->output_values[i] == nullptr) {
      return absl::FailedPreconditionError("there was no successful run yet");
    }
    absl::StatusOr<OrtTensor> output = state_->Read(state_->output_values[i]);
    if (!output.ok()) return output.status();
    output->name = output_names_[i];
    outputs.push_back(*std::move(output));
  }
  return outputs;
}

absl::StatusOr<std::vector<OrtTensor>> OrtSession::Run(
    const std::vector<OrtTensor>& inputs) {
  absl::Status status = Bind(inputs);
  if (status.ok()) status = RunBound();
  if (!status.ok()) return status;
  return Outputs();
}

}  // namespace tilewright::bench
