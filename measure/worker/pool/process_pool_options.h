// How a pool of processes works, and what it tells about itself.
#ifndef TILEWRIGHT_MEASURE_WORKER_POOL_PROCESS_POOL_OPTIONS_H_
#define TILEWRIGHT_MEASURE_WORKER_POOL_PROCESS_POOL_OPTIONS_H_

#include <cstdint>
#include <string>

#include "measure/record/record.pb.h"
#include "measure/worker/protocol.pb.h"

namespace tilewright::measure {

struct ProcessPoolOptions {
  std::string backend;  // one that this binary passes to RunWorkerIfAsked
  std::string backend_options;
  int workers = 2;
  int builders = 2;
  // Builders are stopped while candidates are executed, so that both together
  // use at most so many cores and latencies are as if everything had been built
  // before. 0: they never are.
  int cores = 0;
  // On cores of this host candidates are executed when the core is as fast as
  // it can be (steady_core.h), and again if it was not meanwhile: latencies that
  // were measured seconds apart are to be compared.
  bool wait_for_steady_core = false;
  // Threads of a candidate, and what is to be measured; the rest is set by the
  // worker. Unspecified: 1, the device's own timer, warm.
  Method method;

  // Candidates are verified before their time counts. Else whoever compares
  // them verifies the one that is chosen.
  bool verify = true;

  // How long each may take. What executes has Measure's limit.
  double build_limit_s = 60;
  double start_limit_s = 60;
  double prepare_limit_s = 60;
  double verify_limit_s = 60;  // on a set of inputs; in all, twice that
  double progress_limit_override_s = 0;  // if set: instead of Measure's

  // Address space of a child; 0: no limit.
  int64_t builder_address_space_bytes = int64_t{8} << 30;
  int64_t worker_address_space_bytes = 0;
  uint64_t input_seed = 1;
  int verify_threads = 2;
  int64_t build_cache_bytes = int64_t{256} << 20;
  // The bytes of workloads whose candidates may come again that each measurer
  // keeps: inputs, references, buffers. Beyond that it forgets those that were
  // measured longest ago, and computes them anew; the latest one it keeps in
  // any case.
  int64_t kept_bytes = int64_t{1} << 30;
};

// How the workers fared, for reports.
struct PoolStats {
  int64_t worker_restarts = 0;
  int64_t builder_restarts = 0;
  int64_t retried_alone = 0;
  int64_t builder_pauses = 0;
  Spent spent;  // in all, by those that ended what they were doing
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_WORKER_POOL_PROCESS_POOL_OPTIONS_H_
