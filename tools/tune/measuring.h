// Processes of this binary that measure candidates: for a search several of one
// thread at a time, for comparisons one after the other.
#ifndef TILEWRIGHT_TOOLS_TUNE_MEASURING_H_
#define TILEWRIGHT_TOOLS_TUNE_MEASURING_H_

#include <memory>

#include "absl/status/statusor.h"
#include "measure/parallel/measurer.h"
#include "measure/worker/process_pool.h"

namespace tilewright::tools {

struct Measuring {
  std::unique_ptr<measure::ProcessPool> pool;
  std::unique_ptr<measure::Measurer> measurer;
};

// Candidates have so many threads. Without `verify` their times count although
// nobody looked at their results: the reference of a convolution takes longer
// than a round of its candidates. REQUIRES: the binary's main begins with
// RunWorkerIfAsked for the CPU.
absl::StatusOr<Measuring> StartMeasuring(int cores, int threads, bool verify);

// For comparisons: few short executions, for there are several rounds.
absl::StatusOr<Measuring> StartComparing(int cores, int threads, bool verify);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_TUNE_MEASURING_H_
