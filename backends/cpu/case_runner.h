// Random cases as machine code, with every buffer ending or beginning at an
// inaccessible page.
#ifndef TILEWRIGHT_BACKENDS_CPU_CASE_RUNNER_H_
#define TILEWRIGHT_BACKENDS_CPU_CASE_RUNNER_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/device.h"
#include "backends/lowering/testing/random_case.h"

namespace tilewright::cpu {

// Cases that are worth one module: linking costs more than a kernel.
inline constexpr int kCasesPerModule = 25;

class CaseRunner {
 public:
  // For this machine. Unavailable or Unimplemented if it is none that kernels
  // are made for.
  static absl::StatusOr<CaseRunner> Create();

  const DeviceSpec& spec() const { return codegen_->spec(); }

  // Compiles the cases into one module and verifies each; the message names the
  // seed and holds the case.
  absl::Status RunBatch(std::vector<lowering::RandomCase> cases);

 private:
  absl::Status RunCase(const lowering::RandomCase& drawn,
                       const kernel_ir::ScalarKernel& kernel,
                       const backends::DeviceModule& module);

  std::unique_ptr<backends::Codegen> codegen_;
  std::unique_ptr<backends::Device> device_;
  std::unique_ptr<backends::Stream> stream_;
};

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CASE_RUNNER_H_
