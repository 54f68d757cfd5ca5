// Memory for the interpreter's results. Private to it.
#ifndef TILEWRIGHT_TILEGRAPH_INTERPRET_ZEROED_ARRAY_H_
#define TILEWRIGHT_TILEGRAPH_INTERPRET_ZEROED_ARRAY_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "base/check.h"

namespace tilewright {

// Zeroed memory that costs nothing until it is touched: a test may ask for a
// few elements of a huge tensor. From a megabyte on it is mapped without
// reserving swap, since malloc refuses what would not fit if all of it were
// used.
template <typename T>
class ZeroedArray {
 public:
  ZeroedArray() = default;
  ZeroedArray(ZeroedArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_bytes_(other.size_bytes_) {}
  ZeroedArray& operator=(ZeroedArray&&) = delete;
  ~ZeroedArray() {
    if (data_ == nullptr) return;
    if (is_mapped()) {
      munmap(data_, size_bytes_);
    } else {
      std::free(data_);
    }
  }

  // Once.
  void Allocate(int64_t size) {
    size_bytes_ = static_cast<size_t>(size) * sizeof(T);
    if (is_mapped()) {
      void* data = mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      data_ = data == MAP_FAILED ? nullptr : static_cast<T*>(data);
    } else {
      data_ = static_cast<T*>(
          std::calloc(static_cast<size_t>(size) + 1, sizeof(T)));
    }
    TW_CHECK(data_ != nullptr)
        << "out of address space for " << size << " elements";
  }
  T& operator[](int64_t i) { return data_[i]; }

 private:
  bool is_mapped() const { return size_bytes_ >= (size_t{1} << 20); }

  T* data_ = nullptr;
  size_t size_bytes_ = 0;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_INTERPRET_ZEROED_ARRAY_H_
