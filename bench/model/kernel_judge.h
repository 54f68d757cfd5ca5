// Judges every kernel of a compiled model on its own, as measure's verifier
// does with candidates: what whole-model tests cannot see (reads beyond
// buffers, undefined scratch, bits that depend on threads, small errors that
// cancel) shows here.
#ifndef TILEWRIGHT_BENCH_MODEL_KERNEL_JUDGE_H_
#define TILEWRIGHT_BENCH_MODEL_KERNEL_JUDGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "measure/verify/verifier.h"

namespace tilewright::bench {

struct JudgedKernel {
  std::string name;
  std::string label;  // the model's tensors it computes
  measure::Verdict verdict;
  double seconds = 0;
};

// Compiles for this host and judges each distinct kernel's machine code, with 1
// and with `threads` threads.
absl::StatusOr<std::vector<JudgedKernel>> JudgeKernels(
    const std::string& onnx_path, int threads);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_MODEL_KERNEL_JUDGE_H_
