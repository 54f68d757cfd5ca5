#include "backends/cache_sim/simulate_kernel.h"

#include <algorithm>
#include <cstdint>

#include "backends/kernel_ir/interpreter.h"
#include "base/status_macros.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::cache_sim {
namespace {

// Where the buffers of a kernel lie, one behind the other.
class AddressSpace {
 public:
  AddressSpace(const kernel_ir::ScalarKernel& kernel, uint64_t line_bytes)
      : line_bytes_(line_bytes) {
    scratch_ = next_ = line_bytes;
    Skip(kernel.scratch_bytes);
    for (const kernel_ir::ScalarBuffer& buffer : kernel.buffers) {
      if (buffer.role == kernel_ir::Role::kLocal) {
        base_.push_back(scratch_ +
                        static_cast<uint64_t>(buffer.scratch_offset_bytes));
      } else {
        base_.push_back(next_);
        Skip(buffer.elements * SizeBytes(buffer.dtype));
      }
    }
  }

  uint64_t scratch() const { return scratch_; }
  uint64_t base(int buffer) const { return base_[buffer]; }

 private:
  void Skip(int64_t bytes) {
    next_ += static_cast<uint64_t>(bytes);
    next_ = (next_ + line_bytes_ - 1) / line_bytes_ * line_bytes_;
  }

  const uint64_t line_bytes_;
  uint64_t scratch_, next_;
  std::vector<uint64_t> base_;
};

}  // namespace

absl::StatusOr<std::vector<Crossing>> SimulateKernel(
    const kernel_ir::ScalarKernel& kernel, absl::Span<std::string> args,
    const DeviceSpec& spec, const SimulateOptions& options) {
  int64_t line_bytes = 1;
  for (const MemoryLevel& level : spec.levels())
    line_bytes = std::max(line_bytes, level.read_transaction_bytes());
  const AddressSpace addresses(kernel, static_cast<uint64_t>(line_bytes));
  CacheHierarchy caches(spec, options.ways);
  if (options.is_scratch_warm && kernel.scratch_bytes > 0) {
    caches.Access(addresses.scratch(), kernel.scratch_bytes,
                  /*is_store=*/false);
    caches.ResetCrossings();
  }
  TW_RETURN_IF_ERROR(kernel_ir::InterpretScalarKernel(
      kernel, args, 0, kernel.num_tasks,
      [&](int buffer, int64_t offset_bytes, int64_t size_bytes, bool is_store) {
        caches.Access(
            addresses.base(buffer) + static_cast<uint64_t>(offset_bytes),
            size_bytes, is_store);
      }));
  caches.Forget(addresses.scratch(), kernel.scratch_bytes);
  caches.Flush();
  return caches.crossings();
}

}  // namespace tilewright::cache_sim
