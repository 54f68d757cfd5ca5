// Verifies every kernel of a compiled model on its own, as measure's verifier
// does with candidates: what whole-model tests cannot see (reads beyond
// buffers, undefined scratch, bits that depend on threads, small errors that
// cancel) shows here.
#ifndef TILEWRIGHT_BENCH_MODEL_KERNEL_VERIFIER_H_
#define TILEWRIGHT_BENCH_MODEL_KERNEL_VERIFIER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "measure/verify/verifier.h"

namespace tilewright::bench {

struct VerifiedKernel {
  std::string name;
  std::string label;  // the model's tensors it computes
  measure::Verdict verdict;
  double seconds = 0;
};

// Compiles for this host and verifies each distinct kernel's machine code, with
// 1 and with `threads` threads.
absl::StatusOr<std::vector<VerifiedKernel>> VerifyKernels(
    const std::string& onnx_path, int threads);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_MODEL_KERNEL_VERIFIER_H_
