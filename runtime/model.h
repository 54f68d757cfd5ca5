// A compiled model, loaded and ready: constants in device memory, module
// loaded, kernels resolved. Immutable, shared by any number of sessions and
// threads.
//
// Constants are copied out of the file once: the CPU device keeps large buffers
// in huge pages, which a mapped file cannot have, and weights are what kernels
// stream (measured: 13 % of ResNet-18's time). Processes therefore do not share
// them.
#ifndef TILEWRIGHT_RUNTIME_MODEL_H_
#define TILEWRIGHT_RUNTIME_MODEL_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/device.h"
#include "runtime/format/program.pb.h"
#include "runtime/format/tw_file.h"

namespace tilewright {

class Model {
 public:
  // Loading a .tw runs its code: load only files you would also execute. Errors
  // of TwFile::Open; FailedPrecondition names the CPU features (or the device)
  // that the file needs and `device` lacks.
  static absl::StatusOr<std::shared_ptr<const Model>> Load(
      const std::string& path, std::shared_ptr<backends::Device> device);
  // The same on the device that `device` chooses, by the program's target.
  using DeviceChoice =
      std::function<absl::StatusOr<std::shared_ptr<backends::Device>>(
          const Program& program)>;
  static absl::StatusOr<std::shared_ptr<const Model>> Load(
      const std::string& path, const DeviceChoice& device);
  // The same of what was compiled just now and needs no file; copies what
  // `view` points into.
  static absl::StatusOr<std::shared_ptr<const Model>> FromView(
      const TwView& view, std::shared_ptr<backends::Device> device);
  // The same from the bytes of a .tw.
  static absl::StatusOr<std::shared_ptr<const Model>> FromBytes(
      std::string_view bytes, std::shared_ptr<backends::Device> device);

  const Program& program() const { return program_; }
  // The device's address.
  const char* constants() const {
    return static_cast<const char*>(constants_->address());
  }
  backends::Device& device() const { return *device_; }
  const backends::DeviceKernel& kernel(int i) const { return *kernels_[i]; }

 private:
  Model() = default;
  // Of a program that was verified.
  static absl::StatusOr<std::shared_ptr<const Model>> Create(
      const TwView& view, std::shared_ptr<backends::Device> device);
  // Keeps nothing of what `view` points into.
  absl::Status Init(const TwView& view,
                    std::shared_ptr<backends::Device> device);

  Program program_;
  std::shared_ptr<backends::Device> device_;
  std::unique_ptr<backends::DeviceBuffer> constants_;
  std::unique_ptr<backends::DeviceModule> loaded_module_;
  std::vector<std::unique_ptr<backends::DeviceKernel>> kernels_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_MODEL_H_
