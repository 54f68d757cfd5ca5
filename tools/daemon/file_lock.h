// A file that one process at a time has locked, until it ends, however it ends.
#ifndef TILEWRIGHT_TOOLS_DAEMON_FILE_LOCK_H_
#define TILEWRIGHT_TOOLS_DAEMON_FILE_LOCK_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace tilewright::daemon {

class FileLock {
 public:
  // Makes the file if it is not there; it stays. AlreadyExists with `taken` if
  // another process has it; PermissionDenied if it cannot be written to.
  static absl::StatusOr<std::unique_ptr<FileLock>> Take(
      const std::string& path, const std::string& taken);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  const int descriptor_;
};

// The lock of this user's measuring on a device of this host ("cpu"): in
// $XDG_RUNTIME_DIR, else /tmp.
absl::StatusOr<std::unique_ptr<FileLock>> LockDevice(const std::string& name);

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_FILE_LOCK_H_
