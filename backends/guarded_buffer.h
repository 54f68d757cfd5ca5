// Memory that ends or begins at an inaccessible page, to find accesses outside
// a buffer, and a trap for the faults they cause.
#ifndef TILEWRIGHT_BACKENDS_GUARDED_BUFFER_H_
#define TILEWRIGHT_BACKENDS_GUARDED_BUFFER_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tilewright::backends {

// Host memory with inaccessible pages (16 MiB of addresses on either side, for
// strides that are wrong by far) right behind its last byte, or right before
// its first. Zeros at first. Its alignment is that of its size (kEnd) or of a
// page (kBegin). The bytes between the other end and the page's border hold a
// pattern. Shared with forked children.
class GuardedBuffer {
 public:
  enum class Side { kEnd, kBegin };

  // ResourceExhausted if there is not that much memory.
  static absl::StatusOr<GuardedBuffer> Create(int64_t size_bytes, Side side);
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;
  ~GuardedBuffer();

  char* data() const { return data_; }
  int64_t size_bytes() const { return size_bytes_; }
  // False if something wrote beside the buffer without reaching an inaccessible
  // page.
  bool SlackIntact() const;
  // Whether `address` lies in the buffer, beside it or in its inaccessible
  // pages.
  bool Owns(const void* address) const;

 private:
  GuardedBuffer(char* mapping, int64_t mapping_bytes, char* data,
                int64_t size_bytes)
      : mapping_(mapping),
        mapping_bytes_(mapping_bytes),
        data_(data),
        size_bytes_(size_bytes) {}
  char* first() const;  // accessible byte
  char* end() const;    // of the accessible bytes

  char* mapping_;
  int64_t mapping_bytes_;
  char* data_;
  int64_t size_bytes_;
};

// Calls `work` on this thread. A memory fault, illegal instruction or division
// trap on this thread ends it: OutOfRange names the signal and the address.
// Work is abandoned where it stood, destructors included, so it
// should be little more than the kernel: one launch on a CPU device with one
// thread. Faults of other threads end the process as ever. May be used by
// several threads at a time; does not nest.
absl::Status TrapFaults(const std::function<absl::Status()>& work);

}  // namespace tilewright::backends

#endif  // TILEWRIGHT_BACKENDS_GUARDED_BUFFER_H_
