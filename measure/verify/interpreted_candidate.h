// Candidates that are interpreted: no machine code, every access checked.
#ifndef TILEWRIGHT_MEASURE_VERIFY_INTERPRETED_CANDIDATE_H_
#define TILEWRIGHT_MEASURE_VERIFY_INTERPRETED_CANDIDATE_H_

#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/tile_ir.h"
#include "measure/verify/candidate.h"

namespace tilewright::measure {

// With one thread tasks run in order; with more, in reverse and each on its
// own, as a thread pool might. The kernel must outlive the candidate.
Candidate InterpretedCandidate(const kernel_ir::ScalarKernel& kernel);
// All tasks, in order.
Candidate InterpretedCandidate(const kernel_ir::Kernel& kernel);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_VERIFY_INTERPRETED_CANDIDATE_H_
