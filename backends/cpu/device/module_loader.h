// Shared objects from memory.
#ifndef TILEWRIGHT_BACKENDS_CPU_DEVICE_MODULE_LOADER_H_
#define TILEWRIGHT_BACKENDS_CPU_DEVICE_MODULE_LOADER_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "backends/cpu/kernel_abi.h"

namespace tilewright::cpu {

// A loaded shared object; unloaded with this object, and its kernels with it.
class SharedObject {
 public:
  // Through a file in memory and dlopen: nothing is written to disk.
  // InvalidArgument if the bytes are no shared object.
  static absl::StatusOr<std::unique_ptr<SharedObject>> Load(
      std::string_view bytes);
  ~SharedObject();
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;

  // Null if it exports no such function.
  KernelFunction Find(const std::string& name) const;

 private:
  SharedObject(int fd, void* handle) : fd_(fd), handle_(handle) {}

  // Stays open: dlopen knows libraries by path, and the path holds this number.
  int fd_;
  void* handle_;
};

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_DEVICE_MODULE_LOADER_H_
