#include "backends/null/null_codegen.h"

#include <string>

#include "absl/status/status.h"

namespace tilewright::null {
namespace {

using backends::Codegen;
using backends::Module;

absl::Status Missing(const char* method) {
  return absl::UnimplementedError(
      std::string("the null backend does not implement Codegen::") + method);
}

class NullCodegen : public Codegen {
 public:
  explicit NullCodegen(const DeviceSpec& spec) : spec_(spec) {}

  const DeviceSpec& spec() const override { return spec_; }
  absl::StatusOr<kernel_ir::ScalarKernel> Legalize(
      const kernel_ir::Kernel&) const override {
    return Missing("Legalize");
  }
  absl::StatusOr<Module> Emit(
      absl::Span<const kernel_ir::ScalarKernel>) const override {
    return Missing("Emit");
  }
  absl::StatusOr<std::string> Source(
      const kernel_ir::ScalarKernel&) const override {
    return Missing("Source");
  }

 private:
  const DeviceSpec spec_;
};

}  // namespace

std::unique_ptr<Codegen> CreateNullCodegen(const DeviceSpec& spec) {
  return std::make_unique<NullCodegen>(spec);
}

}  // namespace tilewright::null
