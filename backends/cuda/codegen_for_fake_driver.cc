#include "backends/cuda/codegen_for_fake_driver.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/cuda/device/fake_image.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/tile_ir.h"
#include "base/status_macros.h"

namespace tilewright::cuda {
namespace {

class FakeCodegen : public backends::Codegen {
 public:
  FakeCodegen(std::unique_ptr<backends::Codegen> host, DeviceSpec spec)
      : host_(std::move(host)), spec_(std::move(spec)) {}

  const DeviceSpec& spec() const override { return spec_; }
  absl::StatusOr<kernel_ir::ScalarKernel> Legalize(
      const kernel_ir::Kernel& kernel) const override {
    return host_->Legalize(kernel);
  }
  absl::StatusOr<backends::Module> Emit(
      absl::Span<const kernel_ir::ScalarKernel> kernels) const override {
    TW_ASSIGN_OR_RETURN(backends::Module module, host_->Emit(kernels));
    std::vector<FakeKernel> fakes;
    for (const kernel_ir::ScalarKernel& kernel : kernels) {
      FakeKernel fake;
      fake.name = kernel.name;
      fake.threads = kernel.threads;
      for (const kernel_ir::ScalarBuffer& buffer : kernel.buffers) {
        fake.buffers += buffer.role != kernel_ir::Role::kLocal;
      }
      fakes.push_back(std::move(fake));
    }
    module.bytes = FakeImageOfCpuModule(std::move(module.bytes), fakes);
    module.target = spec_.target();
    return module;
  }
  absl::StatusOr<std::string> Source(
      const kernel_ir::ScalarKernel& kernel) const override {
    return host_->Source(kernel);
  }

 private:
  const std::unique_ptr<backends::Codegen> host_;
  const DeviceSpec spec_;
};

}  // namespace

std::unique_ptr<backends::Codegen> CodegenForFakeDriver(
    std::unique_ptr<backends::Codegen> host, const DeviceSpec& spec) {
  return std::make_unique<FakeCodegen>(std::move(host), spec);
}

}  // namespace tilewright::cuda
