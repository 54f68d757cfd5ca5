// One thread's scratch memory, reused by all kernels.
#ifndef TILEWRIGHT_BACKENDS_CPU_DEVICE_SCRATCH_ARENA_H_
#define TILEWRIGHT_BACKENDS_CPU_DEVICE_SCRATCH_ARENA_H_

#include <cstdint>
#include <memory>

namespace tilewright::cpu {

// Memory aligned to 64 bytes (2 MiB and asking for huge pages from 2 MiB on),
// rounded up to a multiple of that; null if there is not enough.
struct FreeAligned {
  void operator()(void* memory) const;
};
using AlignedMemory = std::unique_ptr<void, FreeAligned>;
AlignedMemory AllocateAligned(int64_t size_bytes);

class ScratchArena {
 public:
  // At least `size_bytes` and a huge page, or null if there is not enough
  // memory. Contents and earlier addresses are lost when it grows.
  void* Reserve(int64_t size_bytes);

 private:
  AlignedMemory memory_;
  int64_t size_bytes_ = 0;
};

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_DEVICE_SCRATCH_ARENA_H_
