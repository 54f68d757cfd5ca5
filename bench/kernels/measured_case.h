// Times one case, its peers and what the machine can do, window by window in
// turn, as docs/measuring.md asks for it.
#ifndef TILEWRIGHT_BENCH_KERNELS_MEASURED_CASE_H_
#define TILEWRIGHT_BENCH_KERNELS_MEASURED_CASE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/kernels/cases.h"
#include "bench/kernels/control_tile.h"
#include "bench/kernels/own_case.h"
#include "bench/kernels/peer.h"
#include "bench/kernels/targets.h"

namespace tilewright::bench {

struct Times {
  std::vector<double> us;

  bool empty() const { return us.empty(); }
  double min() const;
  double median() const;
};

struct Measured {
  // CPU time with one thread, wall time with more; of what counts if there is
  // any, else of all.
  Times own;
  // With one thread a window counts if the control tile before it came close to
  // the peak, and of its runs those while the core was steady (timing.h); with
  // more if the cores were free.
  int windows = 0, counted = 0;
  // The best of the run.
  double fma_gflops = 0;
  double memory_gbytes_per_s = 0;  // of loops that read or copy
  double memcpy_gbytes_per_s = 0;
  double control_gflops = 0;
  std::vector<Times> peers;  // by peer; empty where it has no such operator

  Shares SharesOf(const Operator& op) const;
};

struct MeasureOptions {
  int threads = 1;
  double seconds = 0.5;        // for each side
  int most_vector_bytes = 64;  // of the peak
};

// `control` is null with several threads.
absl::StatusOr<Measured> MeasureCase(
    const Case& one, OwnCase& own, ControlTile* control,
    const std::vector<std::unique_ptr<Peer>>& peers,
    const MeasureOptions& options);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_KERNELS_MEASURED_CASE_H_
