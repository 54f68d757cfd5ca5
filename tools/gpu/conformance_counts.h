// The conformance suite (backends/cts) within a program that is no test.
#ifndef TILEWRIGHT_TOOLS_GPU_CONFORMANCE_COUNTS_H_
#define TILEWRIGHT_TOOLS_GPU_CONFORMANCE_COUNTS_H_

#include <string>
#include <vector>

#include "backends/cts/backend.h"

namespace tilewright::cuda {

struct ConformanceCounts {
  int passed = 0, failed = 0;
  std::vector<std::string> skipped;   // "Name: reason"
  std::vector<std::string> failures;  // the first message of each
};

// Runs all cases; at most once in a process, which runs no other tests.
ConformanceCounts RunConformance(const cts::Backend& backend);

std::string ToString(const ConformanceCounts& counts);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_TOOLS_GPU_CONFORMANCE_COUNTS_H_
