#include "backends/shared_library.h"

#include <dlfcn.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tilewright::backends {
namespace {

// Stays for ever: threads of a vendor may run in it.
constexpr int kFlags = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;

}  // namespace

absl::StatusOr<std::unique_ptr<SharedLibrary>> SharedLibrary::Open(
    absl::Span<const std::string> names, const std::string& what) {
  std::string reason;
  for (const std::string& name : names) {
    if (void* handle = dlopen(name.c_str(), kFlags)) {
      return std::unique_ptr<SharedLibrary>(new SharedLibrary(handle, name));
    }
    // A library that is there and cannot be used says more than one that is
    // not there.
    const char* error = dlerror();
    const std::string text = error != nullptr ? error : "unknown error";
    if (reason.empty() || text.find("No such file") == std::string::npos) {
      reason = text;
    }
  }
  return absl::FailedPreconditionError(
      absl::StrCat("cannot open ", absl::StrJoin(names, " or "), " (", reason,
                   "): install ", what));
}

SharedLibrary::~SharedLibrary() { dlclose(handle_); }

absl::StatusOr<void*> SharedLibrary::Symbol(const std::string& name) const {
  if (void* symbol = dlsym(handle_, name.c_str())) return symbol;
  return absl::FailedPreconditionError(absl::StrCat(
      name_, " has no symbol ", name, ": install a newer version of it"));
}

}  // namespace tilewright::backends
