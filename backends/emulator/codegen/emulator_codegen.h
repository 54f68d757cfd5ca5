// The emulator's code half: GPU text, built for this CPU. What runs on a GPU is
// the very text, prelude included; a shim stands around it.
#ifndef TILEWRIGHT_BACKENDS_EMULATOR_CODEGEN_EMULATOR_CODEGEN_H_
#define TILEWRIGHT_BACKENDS_EMULATOR_CODEGEN_EMULATOR_CODEGEN_H_

#include <memory>

#include "backends/codegen.h"
#include "backends/emulator/codegen/host_compiler.h"
#include "backends/gpu_text/prelude.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::emulator {

struct EmulatorCodegenOptions {
  gpu_text::Dialect dialect = gpu_text::Dialect::kCuda;
  // Every access is checked against its buffer and, in kernels with threads,
  // against those of other threads; arithmetic that was taken not to overflow
  // ends the process if it does.
  bool checked = false;
  // The device tells after each launch what a GPU's memory would do in it
  // (emulator/device/access_counts.h); indices are checked too.
  bool counted = false;
  HostCompilerOptions compiler;
};

// `spec` is of the GPU that is emulated; the generator's own has the target
// "emulator:cuda" or "emulator:hip". Emit has the errors of
// CompileSharedObject; all kernels of a module are built by one call of the
// compiler.
std::unique_ptr<backends::Codegen> CreateEmulatorCodegen(
    const DeviceSpec& spec, const EmulatorCodegenOptions& options = {});

}  // namespace tilewright::emulator

#endif  // TILEWRIGHT_BACKENDS_EMULATOR_CODEGEN_EMULATOR_CODEGEN_H_
