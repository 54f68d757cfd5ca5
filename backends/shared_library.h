// Vendor libraries, opened at run time: what is not installed is a status, not
// a link error.
#ifndef TILEWRIGHT_BACKENDS_SHARED_LIBRARY_H_
#define TILEWRIGHT_BACKENDS_SHARED_LIBRARY_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tilewright::backends {

class SharedLibrary {
 public:
  // The first of `names` that can be opened: names as the dynamic linker looks
  // them up, or paths. FailedPrecondition names all of them and says what to
  // install: `what`, for people ("the NVIDIA driver").
  static absl::StatusOr<std::unique_ptr<SharedLibrary>> Open(
      absl::Span<const std::string> names, const std::string& what);
  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  // FailedPrecondition, naming library and symbol, if there is none.
  absl::StatusOr<void*> Symbol(const std::string& name) const;
  // Its address as a function of the type that the caller declares.
  template <typename Function>
  absl::Status Resolve(const std::string& name, Function** function) const {
    absl::StatusOr<void*> symbol = Symbol(name);
    if (!symbol.ok()) return symbol.status();
    *function = reinterpret_cast<Function*>(*symbol);
    return absl::OkStatus();
  }
  const std::string& name() const { return name_; }

 private:
  SharedLibrary(void* handle, std::string name)
      : handle_(handle), name_(std::move(name)) {}
  void* handle_;
  std::string name_;
};

}  // namespace tilewright::backends

#endif  // TILEWRIGHT_BACKENDS_SHARED_LIBRARY_H_
