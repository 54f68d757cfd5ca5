// Whether the judge rejects the mutants of a right kernel, for tests.
//
// A mutant that computes the same function as its kernel is no wrong kernel.
// Whether it does is decided without the verifier, bounds or references: both
// run on random draws of all inputs, and every bit of every output must agree,
// or, both rewritten to double, 12 digits (a sum in another order is the same
// function, and so is the softmax of a row minus anything but its maximum; that
// it must not overflow is the verifier's business). Two different functions of
// this kind agree on random draws with negligible probability. All other
// mutants must be rejected.
#ifndef TILEWRIGHT_MEASURE_MUTANT_CHECK_H_
#define TILEWRIGHT_MEASURE_MUTANT_CHECK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/lowering/legalize.h"
#include "measure/verifier.h"
#include "sketch/schedule.h"
#include "sketch/workload.h"

namespace tilewright::measure {

struct ScalarCase {
  std::string name;
  sketch::Workload workload;
  kernel_ir::ScalarKernel kernel;
  Arguments arguments;
};

absl::StatusOr<ScalarCase> MakeScalarCase(std::string name,
                                          const sketch::Workload& workload,
                                          const sketch::Schedule& schedule,
                                          const lowering::VectorTarget& target);

struct MutantCount {
  int kernels = 0, rejected = 0;
  int same = 0;                      // accepted, since they are right
  std::map<std::string, int> kinds;  // of what was rejected
};

// Adds what the verifier says of `count` mutants of a kernel. The names of
// those that it accepted wrongly, and what tells them. Internal if it rejects
// the kernel itself.
absl::StatusOr<std::vector<std::string>> CheckMutants(const ScalarCase& one,
                                                      int count, uint64_t seed,
                                                      MutantCount& sum);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_MUTANT_CHECK_H_
