#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/string_view.h"

namespace tilewright {
namespace {

absl::Status ErrnoStatus(int error, std::string_view doing,
                         const std::string& path) {
  const std::string start =
      absl::StrCat("cannot ", ToAbsl(doing), " ", path, ": ");
  switch (error) {
    case ENOENT:
      return absl::NotFoundError(
          absl::StrCat(start, "no such file or folder; check the path"));
    case EACCES:
    case EPERM:
      return absl::PermissionDeniedError(
          absl::StrCat(start, "permission denied; check its owner and mode"));
    case EROFS:
      return absl::PermissionDeniedError(absl::StrCat(
          start, "the file system is read-only; choose another folder"));
    case ENOSPC:
    case EDQUOT:
      return absl::ResourceExhaustedError(absl::StrCat(
          start, error == ENOSPC ? "the disk is full" : "the quota is used up",
          "; free space or choose another folder"));
    case EFBIG:
      return absl::ResourceExhaustedError(absl::StrCat(
          start, "the file would exceed the size limit; raise ulimit -f"));
    case EMFILE:
    case ENFILE:
      return absl::ResourceExhaustedError(
          absl::StrCat(start, "too many open files; raise ulimit -n"));
    case EISDIR:
      return absl::InvalidArgumentError(
          absl::StrCat(start, "it is a folder; give a file"));
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
      return absl::InvalidArgumentError(
          absl::StrCat(start, std::strerror(error), "; check the path"));
    default:
      return absl::UnavailableError(absl::StrCat(
          start, std::strerror(error), "; check the disk and try again"));
  }
}

// Closes what it holds, at the latest when it is destroyed.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  // close(2) may report a delayed write error.
  int Close() { return close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

absl::Status WriteAll(int fd, absl::Span<const std::string_view> parts,
                      const std::string& path) {
  for (std::string_view left : parts) {
    while (!left.empty()) {
      const ssize_t written = write(fd, left.data(), left.size());
      if (written < 0) {
        if (errno == EINTR) continue;
        return ErrnoStatus(errno, "write", path);
      }
      left.remove_prefix(static_cast<size_t>(written));
    }
  }
  return absl::OkStatus();
}

absl::Status WriteNewFile(Descriptor& file,
                          absl::Span<const std::string_view> parts,
                          const std::string& path) {
  TW_RETURN_IF_ERROR(WriteAll(file.get(), parts, path));
  if (fsync(file.get()) != 0) return ErrnoStatus(errno, "write", path);
  if (file.Close() != 0) return ErrnoStatus(errno, "write", path);
  return absl::OkStatus();
}

int OpenTemporary(const std::string& path, std::string* temporary) {
  static std::atomic<uint64_t> counter = 0;
  while (true) {
    *temporary = absl::StrCat(path, ".tmp.", getpid(), ".", counter++);
    const int fd =
        open(temporary->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     int64_t max_bytes) {
  // Non-blocking: opening a pipe must not wait for a writer.
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return ErrnoStatus(errno, "read", path);
  struct stat info;
  if (fstat(file.get(), &info) != 0) return ErrnoStatus(errno, "read", path);
  if (S_ISDIR(info.st_mode)) return ErrnoStatus(EISDIR, "read", path);
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot read ", path, ": it is no regular file"));
  }
  const absl::Status too_large = absl::ResourceExhaustedError(
      absl::StrCat("cannot read ", path, ": it has more than the ", max_bytes,
                   " bytes allowed here; give a smaller file"));
  if (info.st_size > max_bytes) return too_large;

  // The file may grow or shrink meanwhile: read to the end, not to st_size.
  std::string contents;
  size_t size = 0;
  while (true) {
    if (size == contents.size()) {
      constexpr size_t kGrowBytes = 1 << 16;
      contents.resize(size == 0 ? static_cast<size_t>(info.st_size) + 1
                                : size + std::max(size / 2, kGrowBytes));
    }
    const ssize_t count =
        read(file.get(), contents.data() + size, contents.size() - size);
    if (count < 0) {
      if (errno == EINTR) continue;
      return ErrnoStatus(errno, "read", path);
    }
    if (count == 0) break;
    size += static_cast<size_t>(count);
    if (size > static_cast<size_t>(max_bytes)) return too_large;
  }
  contents.resize(size);
  return contents;
}

absl::Status WriteFileAtomically(const std::string& path,
                                 std::string_view contents) {
  return WriteFileAtomically(path, absl::MakeConstSpan(&contents, 1));
}

absl::Status WriteFileAtomically(const std::string& path,
                                 absl::Span<const std::string_view> parts) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    Descriptor device(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (device.get() < 0) return ErrnoStatus(errno, "write", path);
    TW_RETURN_IF_ERROR(WriteAll(device.get(), parts, path));
    if (device.Close() != 0) return ErrnoStatus(errno, "write", path);
    return absl::OkStatus();
  }

  std::string temporary;
  Descriptor file(OpenTemporary(path, &temporary));
  if (file.get() < 0) return ErrnoStatus(errno, "write", path);
  absl::Status status = WriteNewFile(file, parts, path);
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = ErrnoStatus(errno, "write", path);
  }
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

}  // namespace tilewright
