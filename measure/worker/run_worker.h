// The way into a child of the measuring process. Every main that measures, or
// links something that does, begins with it:
//
//   int main(int argc, char** argv) {
//     measure::RunWorkerIfAsked(argc, argv, {cpu::CpuWorker()});
#ifndef TILEWRIGHT_MEASURE_WORKER_RUN_WORKER_H_
#define TILEWRIGHT_MEASURE_WORKER_RUN_WORKER_H_

#include <vector>

#include "measure/worker/worker_backend.h"

namespace tilewright::measure {

// Returns at once unless this process is such a child; otherwise builds or
// measures until the parent is gone, and exits.
void RunWorkerIfAsked(int argc, char** argv,
                      const std::vector<WorkerBackend>& backends);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_WORKER_RUN_WORKER_H_
