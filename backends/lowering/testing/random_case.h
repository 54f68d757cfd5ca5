// One random case for tests of everything below schedules: a graph, a legal
// schedule of it, inputs, and what must come out.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_TESTING_RANDOM_CASE_H_
#define TILEWRIGHT_BACKENDS_LOWERING_TESTING_RANDOM_CASE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/kernel_ir/tile_ir.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "sketch/tree/block_tree.h"
#include "tilegraph/reference/reference.h"

namespace tilewright::lowering {

struct RandomCase {
  uint64_t seed = 0;
  sketch::Workload workload;
  sketch::Schedule schedule;
  sketch::BlockTree tree;
  kernel_ir::Kernel kernel;       // Lower(tree)
  std::vector<TensorId> tensors;  // per argument of the kernel
  std::vector<std::string> args;  // physical bytes; outputs hold NaN
  std::map<TensorId, ReferenceTensor> expected;  // of every output

  // Everything needed to see what went wrong.
  std::string ToString() const;
};

// Same seed, same case. Even seeds draw graphs and small integers whose results
// are exact, odd seeds any graph and real values.
absl::StatusOr<RandomCase> DrawCase(uint64_t seed);
// The same graph and inputs under a schedule with threads, mostly.
absl::StatusOr<RandomCase> DrawThreadedCase(uint64_t seed);

// Fills in what follows from workload and schedule: tree, kernel, inputs drawn
// from the seed (`exact`: small integers) and what must come out.
absl::Status PrepareCase(RandomCase& random_case, bool exact);

// Verifies the arguments after a run: every element of an output within its
// error bound, or equal bit for bit where that is 0, inputs untouched. Internal
// names tensor and element.
absl::Status CheckResults(const RandomCase& random_case,
                          absl::Span<const std::string> args);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_TESTING_RANDOM_CASE_H_
