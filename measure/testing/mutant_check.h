// Whether the verifier rejects the mutants of a right kernel, for tests.
//
// A mutant that computes the same function as its kernel is no wrong kernel.
// That is proved, for every input and without the verifier, bounds or
// references (kernel_proof.h): both run on symbols, and every element of every
// output is the same term, or the same sum in another order. All other mutants
// must be rejected.
#ifndef TILEWRIGHT_MEASURE_TESTING_MUTANT_CHECK_H_
#define TILEWRIGHT_MEASURE_TESTING_MUTANT_CHECK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/lowering/vectorize/legalize.h"
#include "measure/verify/verifier.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"

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

// The difference between a mutant and its kernel on random draws of all inputs,
// in double where sums are rounded; empty if there is none.
absl::StatusOr<std::string> SampledDifference(
    const ScalarCase& one, const kernel_ir::ScalarKernel& mutant);

struct MutantCount {
  int kernels = 0, rejected = 0;
  int same = 0;      // accepted, and proved to be right, bit for bit
  int rounding = 0;  // or but for rounding
  std::map<std::string, int> kinds;  // of what was rejected
};

// Adds what the verifier says of `count` mutants of a kernel. The names of
// those that it accepted without a proof, with the element that has none and
// what tells them. Internal if it rejects the kernel itself.
absl::StatusOr<std::vector<std::string>> CheckMutants(const ScalarCase& one,
                                                      int count, uint64_t seed,
                                                      MutantCount& sum);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_TESTING_MUTANT_CHECK_H_
