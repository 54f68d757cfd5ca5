// CPU time used by a process and the children that it has waited for.
#ifndef TILEWRIGHT_MEASURE_VERIFY_CPU_SPENT_H_
#define TILEWRIGHT_MEASURE_VERIFY_CPU_SPENT_H_

#include <cstdint>

namespace tilewright::measure {

// User and system time of all threads of this process and of its ended
// children. Differences count; those of children come in steps of the kernel's
// accounting.
int64_t CpuSpentNs();

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_VERIFY_CPU_SPENT_H_
