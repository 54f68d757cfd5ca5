// The code half of a backend: kernel IR in, a module out. The device half
// (device.h) runs modules and knows no IR.
#ifndef TILEWRIGHT_BACKENDS_CODEGEN_H_
#define TILEWRIGHT_BACKENDS_CODEGEN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/tile_ir.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::backends {

// The resources that one kernel uses, read from the object that was made.
struct KernelReport {
  std::string name;
  int64_t code_bytes = 0;
  int64_t stack_bytes = 0;  // of the function's frame
  // Registers stored to and loaded from the frame: vectors, or 4 bytes of a
  // GPU.
  int spills = 0;
  // On GPUs, where the compiler tells; absent where it does not.
  std::optional<int> registers;         // of a thread
  std::optional<int64_t> shared_bytes;  // of a block, as it is launched
  std::optional<int64_t> spill_bytes;   // stored to and loaded from the frame
};

struct Module {
  std::string bytes;   // what Device::LoadModule takes
  std::string target;  // e.g. "cpu:x86-64-v4": must be satisfied by the device
  std::vector<KernelReport> kernels;
};

class Codegen {
 public:
  virtual ~Codegen() = default;

  // The spec this generator was made for.
  virtual const DeviceSpec& spec() const = 0;
  // Tile tier -> scalar tier as this target likes it:
  // backends/lowering/vectorize:legalize with the target's VectorTarget, then
  // the passes that the target asks for (streaming stores, expanded functions).
  // The scalar tier that comes out is all there is: Emit, the interpreter and
  // the cache simulator read it. Unimplemented names what the target cannot
  // express.
  virtual absl::StatusOr<kernel_ir::ScalarKernel> Legalize(
      const kernel_ir::Kernel& kernel) const = 0;
  // One module with all kernels; names must differ. Same input, same bytes.
  // Thread-safe. REQUIRES: kernels verified.
  virtual absl::StatusOr<Module> Emit(
      absl::Span<const kernel_ir::ScalarKernel> kernels) const = 0;
  // The text a person would want to read: assembly, CUDA, HIP.
  virtual absl::StatusOr<std::string> Source(
      const kernel_ir::ScalarKernel& kernel) const = 0;
};

}  // namespace tilewright::backends

#endif  // TILEWRIGHT_BACKENDS_CODEGEN_H_
