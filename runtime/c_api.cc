// The C API over Model and Session, on the CPU. No exception leaves it.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/cpu/device/cpu_device.h"
#include "base/allocation.h"
#include "base/status_macros.h"
#include "runtime/format/element_type.h"
#include "runtime/model.h"
#include "runtime/session.h"
#include "runtime/tilewright.h"

struct tw_model {
  std::shared_ptr<const tilewright::Model> model;
};
struct tw_session {
  std::unique_ptr<tilewright::Session> session;
};

namespace {

using tilewright::CatchExceptions;

thread_local std::string last_error;

// Without memory even for the message there is still the code that is returned.
void SetError(const absl::Status& status) noexcept {
  try {
    last_error = std::string(status.message());
  } catch (...) {
    last_error.clear();
  }
}

// The pointer in the StatusOr that `work` returns; null on any failure.
template <typename T, typename F>
T* OrNull(const char* doing, F&& work) noexcept {
  try {
    absl::StatusOr<T*> result = CatchExceptions(doing, work);
    if (result.ok()) return *result;
    SetError(result.status());
  } catch (...) {
    last_error.clear();
  }
  return nullptr;
}

// 0, or -1 on any failure.
template <typename F>
int OrMinusOne(const char* doing, F&& work) noexcept {
  try {
    const absl::Status status = CatchExceptions(doing, work);
    if (status.ok()) return 0;
    SetError(status);
  } catch (...) {
    last_error.clear();
  }
  return -1;
}

int Describe(
    const google::protobuf::RepeatedPtrField<tilewright::TensorSpec>& tensors,
    int index, tw_tensor_info* info) {
  return OrMinusOne("describing a tensor", [&]() -> absl::Status {
    if (index < 0 || index >= tensors.size())
      return absl::OutOfRangeError("index out of range");
    const tilewright::TensorSpec& tensor = tensors[index];
    *info = {tensor.name().c_str(), static_cast<tw_type>(tensor.element_type()),
             tensor.shape_size(), tensor.shape().data(),
             static_cast<size_t>(tilewright::SizeBytes(tensor))};
    return absl::OkStatus();
  });
}

}  // namespace

tw_model* tw_model_load(const char* path, int threads) {
  tw_options options = {};
  options.threads = threads;
  return tw_model_load_with(path, &options);
}

tw_model* tw_model_load_with(const char* path, const tw_options* options) {
  return OrNull<tw_model>(
      "loading a model", [&]() -> absl::StatusOr<tw_model*> {
        const tw_options wanted = options == nullptr ? tw_options{} : *options;
        tilewright::cpu::CpuDeviceOptions of_cpu;
        of_cpu.num_threads = wanted.threads;
        of_cpu.flush_denormals = wanted.flush_denormals != 0;
        auto device = tilewright::cpu::CreateCpuDevice(of_cpu);
        TW_RETURN_IF_ERROR(device.status());
        auto model = tilewright::Model::Load(path, *std::move(device));
        TW_RETURN_IF_ERROR(model.status());
        return new tw_model{*std::move(model)};
      });
}

void tw_model_free(tw_model* model) { delete model; }
int tw_model_num_inputs(const tw_model* model) {
  return model->model->program().inputs_size();
}
int tw_model_num_outputs(const tw_model* model) {
  return model->model->program().outputs_size();
}
int tw_model_input(const tw_model* model, int index, tw_tensor_info* info) {
  return Describe(model->model->program().inputs(), index, info);
}
int tw_model_output(const tw_model* model, int index, tw_tensor_info* info) {
  return Describe(model->model->program().outputs(), index, info);
}

tw_session* tw_session_create(const tw_model* model) {
  return OrNull<tw_session>(
      "creating a session", [&]() -> absl::StatusOr<tw_session*> {
        auto session = tilewright::Session::Create(model->model);
        TW_RETURN_IF_ERROR(session.status());
        return new tw_session{*std::move(session)};
      });
}

void tw_session_free(tw_session* session) { delete session; }

int tw_session_run(tw_session* session, const void* const* inputs,
                   void* const* outputs) {
  return OrMinusOne("running a model", [&]() -> absl::Status {
    const tilewright::Program& program = session->session->model().program();
    return session->session->Run(
        absl::MakeConstSpan(inputs, program.inputs_size()),
        absl::MakeConstSpan(outputs, program.outputs_size()));
  });
}

const char* tw_last_error(void) { return last_error.c_str(); }
