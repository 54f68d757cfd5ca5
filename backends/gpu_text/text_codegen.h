// What code generators for GPUs have in common: kernels become texts, and
// whoever derives from this has those compiled.
#ifndef TILEWRIGHT_BACKENDS_GPU_TEXT_TEXT_CODEGEN_H_
#define TILEWRIGHT_BACKENDS_GPU_TEXT_TEXT_CODEGEN_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/codegen.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/tile_ir.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::gpu_text {

class TextCodegen : public backends::Codegen {
 public:
  explicit TextCodegen(DeviceSpec spec) : spec_(std::move(spec)) {}

  const DeviceSpec& spec() const final { return spec_; }
  // ResourceExhausted if the kernel wants more than a block of the spec's unit
  // has.
  absl::StatusOr<kernel_ir::ScalarKernel> Legalize(
      const kernel_ir::Kernel& kernel) const final;
  // Likewise; other errors are the compiler's.
  absl::StatusOr<backends::Module> Emit(
      absl::Span<const kernel_ir::ScalarKernel> kernels) const final;
  absl::StatusOr<std::string> Source(
      const kernel_ir::ScalarKernel& kernel) const final;

 protected:
  struct Compiled {
    std::string bytes;  // an ELF file, or an archive of such
    // What the compiler tells of kernels, by their names; their names and the
    // bytes of their code may be left out.
    std::map<std::string, backends::KernelReport> reports;
  };
  // `texts`: of these kernels (text.h), without the prelude.
  virtual absl::StatusOr<Compiled> Compile(
      absl::Span<const kernel_ir::ScalarKernel> kernels,
      const std::vector<std::string>& texts) const = 0;

 private:
  const DeviceSpec spec_;
};

}  // namespace tilewright::gpu_text

#endif  // TILEWRIGHT_BACKENDS_GPU_TEXT_TEXT_CODEGEN_H_
