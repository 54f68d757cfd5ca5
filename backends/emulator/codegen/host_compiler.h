// C++ to a shared object, by the compiler that this machine happens to have.
#ifndef TILEWRIGHT_BACKENDS_EMULATOR_CODEGEN_HOST_COMPILER_H_
#define TILEWRIGHT_BACKENDS_EMULATOR_CODEGEN_HOST_COMPILER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tilewright::emulator {

struct HostCompilerOptions {
  // Programs that are tried in order: names as the shell finds them, or paths.
  std::vector<std::string> programs = {"g++", "clang++", "c++"};
  std::vector<std::string> flags;  // added
};

// A position-independent shared object that needs no library by name (what it
// calls of libc and libm, the process has). Nothing is contracted. Thread-safe;
// the same source, the same bytes. FailedPrecondition if there is no compiler,
// InvalidArgument with its first error if the source does not compile.
absl::StatusOr<std::string> CompileSharedObject(
    const std::string& source, const HostCompilerOptions& options = {});

// Compiles a source in a file of that name ("kernels.cu") to its output, by the
// first of `programs` that there is, with nothing but `flags`. Errors as above.
absl::StatusOr<std::string> RunCompiler(
    const std::vector<std::string>& programs,
    const std::vector<std::string>& flags, const std::string& file_name,
    const std::string& source);

}  // namespace tilewright::emulator

#endif  // TILEWRIGHT_BACKENDS_EMULATOR_CODEGEN_HOST_COMPILER_H_
