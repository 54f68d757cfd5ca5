// Kernels that run one after the other on shared buffers, timed in turn with
// others that compute the same.
#ifndef TILEWRIGHT_BENCH_TRAFFIC_KERNEL_CHAIN_H_
#define TILEWRIGHT_BENCH_TRAFFIC_KERNEL_CHAIN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/codegen.h"
#include "backends/device.h"
#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::bench {

// Buffers by name: what one kernel writes the next one reads.
class NamedBuffers {
 public:
  // `device` must outlive it.
  explicit NamedBuffers(backends::Device& device) : device_(device) {}

  // Small numbers where `floats`, otherwise zeros. REQUIRES: the same size
  // whenever a name is asked for, or less.
  absl::StatusOr<char*> Get(const std::string& name, int64_t bytes,
                            bool floats);

 private:
  backends::Device& device_;
  std::map<std::string, std::unique_ptr<backends::DeviceBuffer>> buffers_;
};

// One kernel of a chain: of each argument, in order, its buffer, the bytes of
// that and where in it the kernel begins.
struct ChainKernel {
  struct Argument {
    std::string buffer;
    int64_t buffer_bytes = 0, offset_bytes = 0;
  };
  kernel_ir::ScalarKernel scalar;
  std::vector<Argument> arguments;
};

class KernelChain {
 public:
  // `device` and `buffers` must outlive it. Errors of the backend.
  static absl::StatusOr<KernelChain> Create(
      absl::Span<const ChainKernel> kernels, const backends::Codegen& codegen,
      backends::Device& device, NamedBuffers& buffers);

  absl::Status Run(backends::Stream& stream) const;
  int64_t tasks() const { return kernels_.back().tasks; }
  int64_t scratch_bytes() const;  // the most of a kernel
  int spills() const;

 private:
  struct Kernel {
    std::unique_ptr<backends::DeviceModule> module;
    std::unique_ptr<backends::DeviceKernel> resolved;
    std::vector<void*> args;
    int64_t tasks = 0, scratch_bytes = 0;
    int spills = 0;
  };
  std::vector<Kernel> kernels_;
};

struct ChainTimes {
  double least_seconds = 0, median_seconds = 0;
};

// Runs all chains in turn until `seconds` have passed, five times at least; the
// first turn is not counted.
absl::StatusOr<std::vector<ChainTimes>> TimeInterleaved(
    absl::Span<const KernelChain> chains, backends::Device& device,
    double seconds);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_TRAFFIC_KERNEL_CHAIN_H_
