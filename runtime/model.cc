#include "runtime/model.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tilewright {

absl::StatusOr<std::shared_ptr<const Model>> Model::Load(
    const std::string& path, std::shared_ptr<backends::Device> device) {
  std::shared_ptr<Model> model(new Model);
  TW_ASSIGN_OR_RETURN(model->file_, TwFile::Open(path));
  model->view_ = model->file_->view();
  const absl::Status status = model->Init(std::move(device));
  if (!status.ok())
    return absl::Status(status.code(),
                        absl::StrCat(path, ": ", status.message()));
  return model;
}

absl::StatusOr<std::shared_ptr<const Model>> Model::FromBytes(
    std::string bytes, std::shared_ptr<backends::Device> device) {
  std::shared_ptr<Model> model(new Model);
  model->bytes_ = std::move(bytes);
  TW_ASSIGN_OR_RETURN(model->view_, ParseTw(model->bytes_));
  TW_RETURN_IF_ERROR(model->Init(std::move(device)));
  return model;
}

absl::Status Model::Init(std::shared_ptr<backends::Device> device) {
  device_ = std::move(device);
  if (!device_->unified_memory()) {
    return absl::UnimplementedError(absl::StrCat(
        "device ", std::string(device_->name()),
        " has memory of its own, which the runtime cannot fill yet"));
  }
  TW_ASSIGN_OR_RETURN(
      constants_,
      device_->Allocate(static_cast<int64_t>(view_.constants.size())));
  std::copy(view_.constants.begin(), view_.constants.end(),
            static_cast<char*>(constants_->address()));
  TW_ASSIGN_OR_RETURN(
      loaded_module_,
      device_->LoadModule(view_.module, view_.program.target()));
  for (const KernelInfo& kernel : view_.program.kernels()) {
    TW_ASSIGN_OR_RETURN(auto resolved,
                        device_->GetKernel(*loaded_module_, kernel.name()));
    kernels_.push_back(std::move(resolved));
  }
  return absl::OkStatus();
}

}  // namespace tilewright
