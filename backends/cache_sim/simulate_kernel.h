// Runs a kernel in the interpreter and counts what its accesses move between
// the memory levels of a device.
#ifndef TILEWRIGHT_BACKENDS_CACHE_SIM_SIMULATE_KERNEL_H_
#define TILEWRIGHT_BACKENDS_CACHE_SIM_SIMULATE_KERNEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/cache_sim/cache_hierarchy.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::cache_sim {

struct SimulateOptions {
  int64_t ways = 0;  // as of CacheHierarchy
  // The scratch memory was used before, as by other kernels: what of it the
  // caches hold does not come in.
  bool is_scratch_warm = false;
};

// All tasks one after the other on one core whose caches are empty but for
// that; at the end
// dirty lines are written back, but those of scratch memory, which nobody
// reads. Arguments and scratch start at multiples of a line. Errors as of
// InterpretScalarKernel.
absl::StatusOr<std::vector<Crossing>> SimulateKernel(
    const kernel_ir::ScalarKernel& kernel, absl::Span<std::string> args,
    const DeviceSpec& spec, const SimulateOptions& options = {});

}  // namespace tilewright::cache_sim

#endif  // TILEWRIGHT_BACKENDS_CACHE_SIM_SIMULATE_KERNEL_H_
