#include "backends/cpu/device/scratch_arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

namespace tilewright::cpu {
namespace {

constexpr int64_t kLine = 64;
constexpr int64_t kHugePage = int64_t{2} << 20;

}  // namespace

void FreeAligned::operator()(void* memory) const { std::free(memory); }

AlignedMemory AllocateAligned(int64_t size_bytes) {
  if (size_bytes < 0 || size_bytes > INT64_MAX - kHugePage) return nullptr;
  const int64_t alignment = size_bytes >= kHugePage ? kHugePage : kLine;
  int64_t rounded = (size_bytes + alignment - 1) / alignment * alignment;
  if (rounded == 0) rounded = kLine;
  AlignedMemory memory(std::aligned_alloc(static_cast<size_t>(alignment),
                                          static_cast<size_t>(rounded)));
  if (memory != nullptr && alignment == kHugePage) {
    // A hint: without huge pages it is slower, not wrong.
    (void)madvise(memory.get(), static_cast<size_t>(rounded), MADV_HUGEPAGE);
  }
  return memory;
}

void* ScratchArena::Reserve(int64_t size_bytes) {
  if (memory_ == nullptr || size_bytes > size_bytes_) {
    memory_.reset();
    size_bytes_ = std::max(size_bytes, kHugePage);
    memory_ = AllocateAligned(size_bytes_);
    if (memory_ == nullptr) size_bytes_ = 0;
  }
  return memory_.get();
}

}  // namespace tilewright::cpu
