#include "backends/cpu/device/module_loader.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/device/elf_check.h"
#include "base/status_macros.h"

namespace tilewright::cpu {
namespace {

absl::Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "cannot hold a module in memory: ", std::strerror(errno)));
    }
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<SharedObject>> SharedObject::Load(
    std::string_view bytes) {
  TW_RETURN_IF_ERROR(CheckSharedObject(bytes));
  const int fd = memfd_create("tilewright_module", MFD_CLOEXEC);
  if (fd < 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("memfd_create: ", std::strerror(errno)));
  }
  // Owns fd from here on.
  std::unique_ptr<SharedObject> object(new SharedObject(fd, nullptr));
  TW_RETURN_IF_ERROR(WriteAll(fd, bytes));
  const std::string path = absl::StrCat("/proc/self/fd/", fd);
  object->handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object->handle_ == nullptr) {
    const char* why = dlerror();
    return absl::InvalidArgumentError(absl::StrCat(
        "the module does not load: ", why ? why : "unknown error"));
  }
  return object;
}

SharedObject::~SharedObject() {
  if (handle_ != nullptr) dlclose(handle_);
  close(fd_);
}

KernelFunction SharedObject::Find(const std::string& name) const {
  return reinterpret_cast<KernelFunction>(dlsym(handle_, name.c_str()));
}

}  // namespace tilewright::cpu
