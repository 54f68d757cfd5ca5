// The CPU as measuring sees a backend.
#ifndef TILEWRIGHT_MEASURE_WORKER_CPU_CPU_WORKER_H_
#define TILEWRIGHT_MEASURE_WORKER_CPU_CPU_WORKER_H_

#include "measure/worker/worker_backend.h"

namespace tilewright::cpu {

// "cpu": candidates are built for this host, or for the class of CPU that the
// options name ("x86-64-v3"). With one thread the device's own timer is the
// thread's CPU time, with more the wall clock.
measure::WorkerBackend CpuWorker();

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_MEASURE_WORKER_CPU_CPU_WORKER_H_
