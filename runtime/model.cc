#include "runtime/model.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/allocation.h"
#include "base/status_macros.h"

namespace tilewright {

absl::StatusOr<std::shared_ptr<const Model>> Model::Load(
    const std::string& path, std::shared_ptr<backends::Device> device) {
  return Load(
      path,
      [&](const Program&) -> absl::StatusOr<std::shared_ptr<backends::Device>> {
        return std::move(device);
      });
}

absl::StatusOr<std::shared_ptr<const Model>> Model::Load(
    const std::string& path, const DeviceChoice& device) {
  return CatchExceptions(
      absl::StrCat("loading ", path),
      [&]() -> absl::StatusOr<std::shared_ptr<const Model>> {
        TW_ASSIGN_OR_RETURN(const std::unique_ptr<TwFile> file,
                            TwFile::Open(path));
        TW_ASSIGN_OR_RETURN(std::shared_ptr<backends::Device> chosen,
                            device(file->view().program));
        auto model = Create(file->view(), std::move(chosen));
        if (!model.ok()) {
          return absl::Status(
              model.status().code(),
              absl::StrCat(path, ": ", model.status().message()));
        }
        return model;
      });
}

absl::StatusOr<std::shared_ptr<const Model>> Model::FromView(
    const TwView& view, std::shared_ptr<backends::Device> device) {
  return CatchExceptions(
      "loading a model", [&]() -> absl::StatusOr<std::shared_ptr<const Model>> {
        TW_RETURN_IF_ERROR(VerifyProgram(
            view.program, static_cast<int64_t>(view.constants.size())));
        return Create(view, std::move(device));
      });
}

absl::StatusOr<std::shared_ptr<const Model>> Model::FromBytes(
    std::string_view bytes, std::shared_ptr<backends::Device> device) {
  return CatchExceptions(
      "loading a model", [&]() -> absl::StatusOr<std::shared_ptr<const Model>> {
        TW_ASSIGN_OR_RETURN(const TwView view, ParseTw(bytes));
        return Create(view, std::move(device));
      });
}

absl::StatusOr<std::shared_ptr<const Model>> Model::Create(
    const TwView& view, std::shared_ptr<backends::Device> device) {
  std::shared_ptr<Model> model(new Model);
  TW_RETURN_IF_ERROR(model->Init(view, std::move(device)));
  return model;
}

absl::Status Model::Init(const TwView& view,
                         std::shared_ptr<backends::Device> device) {
  device_ = std::move(device);
  program_ = view.program;
  const int64_t constants_bytes = static_cast<int64_t>(view.constants.size());
  TW_RETURN_IF_ERROR(CheckMemory(constants_bytes, "the model's constants"));
  TW_ASSIGN_OR_RETURN(constants_, device_->Allocate(constants_bytes));
  if (device_->unified_memory()) {
    std::copy(view.constants.begin(), view.constants.end(),
              static_cast<char*>(constants_->address()));
  } else {
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<backends::Stream> stream,
                        device_->CreateStream());
    TW_RETURN_IF_ERROR(stream->Copy(constants_->address(),
                                    view.constants.data(), constants_bytes));
    TW_RETURN_IF_ERROR(stream->Synchronize());
  }
  TW_ASSIGN_OR_RETURN(loaded_module_,
                      device_->LoadModule(view.module, program_.target()));
  for (const KernelInfo& kernel : program_.kernels()) {
    TW_ASSIGN_OR_RETURN(auto resolved,
                        device_->GetKernel(*loaded_module_, kernel.name()));
    kernels_.push_back(std::move(resolved));
  }
  return absl::OkStatus();
}

}  // namespace tilewright
