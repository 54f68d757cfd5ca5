// Another library's kernel for a case.
#ifndef TILEWRIGHT_BENCH_KERNELS_PEER_H_
#define TILEWRIGHT_BENCH_KERNELS_PEER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/kernels/cases.h"
#include "bench/options/target_class.h"

namespace tilewright::bench {

// Ready to run: memory allocated and filled, weights packed.
class PeerKernel {
 public:
  virtual ~PeerKernel() = default;
  virtual absl::Status Run() = 0;
  // For libraries that time the operator themselves, in the middle of a larger
  // model: microseconds of every run, after the last of them. Empty: whoever
  // runs it takes the time.
  virtual absl::StatusOr<std::vector<double>> OwnTimesUs() {
    return std::vector<double>();
  }
};

class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string name() const = 0;  // with its version
  // Unimplemented if the library has no such operator.
  virtual absl::StatusOr<std::unique_ptr<PeerKernel>> Prepare(
      const Operator& op) = 0;
};

inline constexpr char kOnnxRuntimeName[] = "ONNX Runtime";

// Opened at run time, after LimitPeers if they are to be limited, so that
// nothing here depends on them: NotFound, with a hint, where a library is
// absent or of another interface.
absl::StatusOr<std::unique_ptr<Peer>> OpenOneDnn(int threads);
absl::StatusOr<std::unique_ptr<Peer>> OpenOpenBlas(int threads);
absl::StatusOr<std::unique_ptr<Peer>> OpenOnnxRuntime(
    const std::string& library_path, int threads);
// Tilewright itself with what a search recorded at `records_path`
// ('tilewright tune').
absl::StatusOr<std::unique_ptr<Peer>> OpenTuned(const std::string& records_path,
                                                int threads,
                                                const TargetClass& target);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_KERNELS_PEER_H_
