// Kernels with their arguments, in the interpreter and in the emulator: what
// tests of GPU text compare.
#ifndef TILEWRIGHT_BACKENDS_EMULATOR_KERNEL_JOBS_H_
#define TILEWRIGHT_BACKENDS_EMULATOR_KERNEL_JOBS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/emulator/codegen/emulator_codegen.h"
#include "backends/emulator/device/access_counts.h"
#include "backends/gpu_text/prelude.h"
#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::emulator {

struct Job {
  kernel_ir::ScalarKernel kernel;
  std::vector<std::string> args;  // bytes, before the run
};
// The arguments after it.
using Result = absl::StatusOr<std::vector<std::string>>;

// A kernel costs less in a module of many: one call of the compiler costs more
// than a kernel.
inline constexpr int kKernelsPerModule = 30;

EmulatorCodegenOptions Options(gpu_text::Dialect dialect, bool checked);

Result Interpret(const Job& job);
// All in one module, for a GPU whose blocks may share any amount of memory;
// kernels get names of their own. A module that cannot be made aborts.
std::vector<Result> Emulate(std::vector<Job> jobs,
                            const EmulatorCodegenOptions& options);

// What a GPU's memory would do in each. REQUIRES: the jobs run.
std::vector<KernelCounts> Count(std::vector<Job> jobs,
                                EmulatorCodegenOptions options);

// Says where results differ that ought to be equal, bit for bit but for NaNs.
std::string Difference(const kernel_ir::ScalarKernel& kernel,
                       const Result& actual, const Result& expected);

// Interpreter and checked texts on mutants of kernels.
struct MutantTally {
  struct Kind {
    int caught = 0, all = 0;
  };
  std::map<std::string, Kind> kinds;       // by what was changed
  std::vector<std::string> missed;         // right to both
  std::vector<std::string> disagreements;  // each with its listing
  // Accesses outside, or of shared memory that nobody wrote, that texts do not
  // make: of values that nobody then reads.
  int64_t unmade = 0;
  int64_t mutants = 0, races = 0;

  // What is printed: caught of each kind, races, what was missed.
  std::string ToString() const;
};
// Adds up to `count` mutants of each job. REQUIRES: the jobs run.
void AddMutants(const std::vector<Job>& jobs, int count, uint64_t seed,
                MutantTally& tally);

}  // namespace tilewright::emulator

#endif  // TILEWRIGHT_BACKENDS_EMULATOR_KERNEL_JOBS_H_
