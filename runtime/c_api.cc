// The C API over Model and Session, on the CPU.
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/cpu/device/cpu_device.h"
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

thread_local std::string last_error;

template <typename T>
bool Ok(const absl::StatusOr<T>& value) {
  if (!value.ok()) last_error = std::string(value.status().message());
  return value.ok();
}

int Describe(
    const google::protobuf::RepeatedPtrField<tilewright::TensorSpec>& tensors,
    int index, tw_tensor_info* info) {
  if (index < 0 || index >= tensors.size()) {
    last_error = "index out of range";
    return -1;
  }
  const tilewright::TensorSpec& tensor = tensors[index];
  *info = {tensor.name().c_str(), static_cast<tw_type>(tensor.element_type()),
           tensor.shape_size(), tensor.shape().data(),
           static_cast<size_t>(tilewright::SizeBytes(tensor))};
  return 0;
}

}  // namespace

tw_model* tw_model_load(const char* path, int threads) {
  absl::StatusOr<std::unique_ptr<tilewright::backends::Device>> device =
      tilewright::cpu::CreateCpuDevice({.num_threads = threads});
  if (!Ok(device)) return nullptr;
  auto model = tilewright::Model::Load(path, *std::move(device));
  return Ok(model) ? new tw_model{*std::move(model)} : nullptr;
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
  auto session = tilewright::Session::Create(model->model);
  return Ok(session) ? new tw_session{*std::move(session)} : nullptr;
}

void tw_session_free(tw_session* session) { delete session; }

int tw_session_run(tw_session* session, const void* const* inputs,
                   void* const* outputs) {
  const tilewright::Program& program = session->session->model().program();
  const absl::Status status = session->session->Run(
      absl::MakeConstSpan(inputs, program.inputs_size()),
      absl::MakeConstSpan(outputs, program.outputs_size()));
  if (status.ok()) return 0;
  last_error = std::string(status.message());
  return -1;
}

const char* tw_last_error(void) { return last_error.c_str(); }
