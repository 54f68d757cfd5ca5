// A candidate: something that claims to compute a workload, as the verifier
// sees it.
#ifndef TILEWRIGHT_MEASURE_VERIFY_CANDIDATE_H_
#define TILEWRIGHT_MEASURE_VERIFY_CANDIDATE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "backends/guarded_buffer.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::measure {

using backends::GuardedBuffer;
using GuardSide = backends::GuardedBuffer::Side;

// The arguments of a kernel, in order: tensors of the workload's graph
// (placeholders, constants, outputs) and how each lies in memory.
struct Arguments {
  std::vector<TensorId> tensors;
  std::vector<Layout> layouts;
  // Empty, or by argument: m where the kernel takes for a constant the filters
  // of F(m, 3) that are made of it (tilegraph/rewrite/winograd.h), else 0.
  std::vector<int> winograd = {};

  int WinogradOf(size_t argument) const {
    return winograd.empty() ? 0 : winograd[argument];
  }
};

// One run that a candidate is asked for.
struct CandidateRun {
  std::vector<void*> args;                    // by argument
  std::vector<int64_t> sizes_bytes;           // by argument
  int threads = 1;                            // that the tasks are to be run by
  GuardSide scratch_guard = GuardSide::kEnd;  // on which side scratch should be
                                              // guarded, where it can be
};

// Runs all tasks, once, and returns when they are done. An error rejects the
// candidate, but for ResourceExhausted, Unavailable and Unimplemented, which
// are the machine's.
using Candidate = std::function<absl::Status(const CandidateRun&)>;

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_VERIFY_CANDIDATE_H_
