// Whether two scalar kernels compute the same for every input, by running both
// on symbols.
#ifndef TILEWRIGHT_MEASURE_TESTING_KERNEL_PROOF_H_
#define TILEWRIGHT_MEASURE_TESTING_KERNEL_PROOF_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "measure/verify/candidate.h"
#include "sketch/trace/workload.h"

namespace tilewright::measure {

struct KernelProof {
  enum class Result : uint8_t {
    kNone,      // nothing is proved
    kRounding,  // the same but for rounding (canonical_terms.h)
    kBits,      // bit for bit, but for the payload of NaNs
  };
  Result result = Result::kNone;
  // With kNone: the first element of an output that is another term, "Y[17]",
  // as it lies in memory; or why a kernel does not run on symbols.
  std::string gap;
};

// Proves all elements of the outputs of `workload` the same, and their padding
// where it has to stay zero, whatever the inputs are but for its known zeros.
// Both kernels take `arguments`. Error: `kernel` itself does not run on
// symbols.
absl::StatusOr<KernelProof> ProveSame(const sketch::Workload& workload,
                                      const Arguments& arguments,
                                      const kernel_ir::ScalarKernel& kernel,
                                      const kernel_ir::ScalarKernel& other);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_TESTING_KERNEL_PROOF_H_
