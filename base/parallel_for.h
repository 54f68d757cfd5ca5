// Independent pieces of work, on several threads.
#ifndef TILEWRIGHT_BASE_PARALLEL_FOR_H_
#define TILEWRIGHT_BASE_PARALLEL_FOR_H_

#include <cstdint>
#include <functional>

namespace tilewright {

// Calls body(0) to body(count - 1), each once, on at most `threads` threads,
// the caller's among them, and returns when all are done. They are begun in
// order; what `body` leaves behind must not depend on who is done first. If a
// call throws, no more are begun, and the exception of the first of them that
// threw is thrown again. The system may give fewer threads than were asked for.
void ParallelFor(int64_t count, int threads,
                 const std::function<void(int64_t)>& body);

// CPUs that this process may use (taskset, cpusets), at least 1.
int UsableCpus();

}  // namespace tilewright

#endif  // TILEWRIGHT_BASE_PARALLEL_FOR_H_
