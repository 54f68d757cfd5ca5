// The model that a command's MODEL names: a .tw that is loaded, or an .onnx
// that is imported and compiled on the fly.
#ifndef TILEWRIGHT_TOOLS_COMMANDS_MODEL_SOURCE_H_
#define TILEWRIGHT_TOOLS_COMMANDS_MODEL_SOURCE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/cpu/device/task_log.h"
#include "backends/spec/device_spec.pb.h"
#include "compiler/compile.h"
#include "frontends/onnx/import_model.h"
#include "runtime/model.h"
#include "tilegraph/expr/host_tensor.h"
#include "tools/commands/command_line.h"

namespace tilewright::tools {

// From --dim and --bind.
absl::StatusOr<ImportOptions> ImportOptionsFrom(const CommandLine& line);
// From --connect and its search, --level-cap, --allow.
absl::StatusOr<CompileOptions> CompileOptionsFrom(const CommandLine& line);
// The machine of --target and --spec.
absl::StatusOr<DeviceSpec> SpecFrom(const CommandLine& line);
// For that machine with the cores of --threads, if they are given. Bad usage if
// something of --allow has no effect there.
absl::StatusOr<std::unique_ptr<backends::Codegen>> CodegenFrom(
    const CommandLine& line);

// An .onnx through all stages; what a .tw does not have is not there.
struct Source {
  std::optional<ImportedModel> imported;
  std::optional<CompiledModel> compiled;
  double compile_cpu_s = 0;
  std::shared_ptr<const Model> model;  // null unless asked to load
  bool flush_denormals = false;        // the model's device does
};

// Inputs that become constants, beside those of --bind.
using BoundInputs = std::map<std::string, HostTensor>;

// Imports and compiles `path`; errors carry the path.
absl::StatusOr<Source> CompileOnnx(const CommandLine& line,
                                   const std::string& path,
                                   const BoundInputs& bound = {});
// The same for .onnx, plus loading onto a device for the program's target, a
// CPU with --threads; only loading for .tw. `log` must outlive the model, if
// there is one.
absl::StatusOr<Source> LoadSource(const CommandLine& line,
                                  const std::string& path,
                                  const BoundInputs& bound = {},
                                  cpu::TaskLog* log = nullptr);

// On stderr, one line: that the tasks of a loaded model are cut for far fewer
// threads than it runs with, and what to do. Nothing if they are not.
void TellPlannedForFewer(const Source& source);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_COMMANDS_MODEL_SOURCE_H_
