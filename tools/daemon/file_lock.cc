#include "tools/daemon/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tilewright::daemon {

absl::StatusOr<std::unique_ptr<FileLock>> FileLock::Take(
    const std::string& path, const std::string& taken) {
  const int descriptor =
      open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) {
    return absl::PermissionDeniedError(
        absl::StrCat(path, ": cannot be written to (", strerror(errno), ")"));
  }
  std::unique_ptr<FileLock> lock(new FileLock(descriptor));
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    return absl::AlreadyExistsError(taken);
  }
  return lock;
}

FileLock::~FileLock() { close(descriptor_); }

absl::StatusOr<std::unique_ptr<FileLock>> LockDevice(const std::string& name) {
  const char* const folder = std::getenv("XDG_RUNTIME_DIR");
  return FileLock::Take(
      absl::StrCat(folder == nullptr ? "/tmp" : folder, "/tilewright-", name,
                   "-", geteuid(), ".lock"),
      absl::StrCat("another worker measures on ", name,
                   "; stop it first, its times would be disturbed"));
}

}  // namespace tilewright::daemon
