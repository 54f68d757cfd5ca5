// Processes and descriptors as seen from outside, for the tests of workers.
#ifndef TILEWRIGHT_MEASURE_WORKER_FAKE_PROCESSES_H_
#define TILEWRIGHT_MEASURE_WORKER_FAKE_PROCESSES_H_

#include <sys/types.h>

#include <vector>

namespace tilewright::fake {

// Workers, and what they forked, of that parent; it may be gone. Zombies are
// none.
std::vector<pid_t> WorkersOf(pid_t parent);
// Waits for there to be none; false if there still are some after so long.
bool WorkersEnd(pid_t parent, double limit_s);

// Open descriptors of this process.
int OpenDescriptors();

}  // namespace tilewright::fake

#endif  // TILEWRIGHT_MEASURE_WORKER_FAKE_PROCESSES_H_
