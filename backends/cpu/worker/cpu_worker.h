// The CPU as measuring sees a backend.
#ifndef TILEWRIGHT_BACKENDS_CPU_WORKER_CPU_WORKER_H_
#define TILEWRIGHT_BACKENDS_CPU_WORKER_CPU_WORKER_H_

#include "measure/worker/worker_backend.h"

namespace tilewright::cpu {

// "cpu": candidates are built for this host. With one thread the device's own
// timer is the thread's CPU time, with more the wall clock. No options.
measure::WorkerBackend CpuWorker();

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_WORKER_CPU_WORKER_H_
