#include "frontends/onnx/graph/external_data.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/allocation.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright {
namespace {

constexpr int kReadFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

struct Location {
  std::string path;
  int64_t offset = 0;
  std::optional<int64_t> length;
};

// Opens part by part, following no symbolic link: what openat2 does in one
// call where the kernel has it.
int OpenPartByPart(int folder, const std::vector<std::string>& parts) {
  int at = folder;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    const int next = openat(at, parts[i].c_str(),
                            kReadFlags | O_NOFOLLOW | (last ? 0 : O_DIRECTORY));
    int error = errno;
    // A link where a folder is wanted.
    struct stat info = {};
    if (next < 0 && error == ENOTDIR &&
        fstatat(at, parts[i].c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISLNK(info.st_mode)) {
      error = ELOOP;
    }
    if (at != folder) close(at);
    errno = error;
    if (next < 0) return -1;
    at = next;
  }
  return at;
}

int OpenBeneath(int folder, const std::string& path,
                const std::vector<std::string>& parts, bool use_openat2) {
  if (!use_openat2) return OpenPartByPart(folder, parts);
  open_how how = {};
  how.flags = kReadFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const long file =
      syscall(SYS_openat2, folder, path.c_str(), &how, sizeof(how));
  if (file >= 0) return static_cast<int>(file);
  if (errno != ENOSYS && errno != EPERM) return -1;
  return OpenPartByPart(folder, parts);
}

absl::StatusOr<Location> ReadLocation(const onnx::TensorProto& tensor) {
  Location location;
  for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
    int64_t number = 0;
    const bool is_number = absl::SimpleAtoi(entry.value(), &number);
    if (entry.key() == "location") {
      location.path = entry.value();
    } else if (entry.key() == "offset" || entry.key() == "length") {
      if (!is_number || number < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("tensor ", Quoted(tensor.name()), ": external data ",
                         entry.key(), " ", Quoted(entry.value()),
                         " is no count of bytes; export the model again"));
      }
      if (entry.key() == "offset") location.offset = number;
      if (entry.key() == "length") location.length = number;
    }
  }
  if (location.path.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor ", Quoted(tensor.name()),
                     ": external data names no file; export the model again"));
  }
  return location;
}

absl::Status Outside(const std::string& tensor, const std::string& path,
                     absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      "tensor ", Quoted(tensor), ": external data ", Quoted(path), " ", why,
      "; only files inside the model's folder are read, move it there"));
}

// The folders and the file of a path that stays inside the model's folder.
absl::StatusOr<std::vector<std::string>> PartsInside(const std::string& tensor,
                                                     const std::string& path) {
  if (path[0] == '/') return Outside(tensor, path, "is an absolute path");
  if (path.find('\0') != std::string::npos)
    return Outside(tensor, path, "is no path");
  std::vector<std::string> parts;
  for (absl::string_view part : absl::StrSplit(path, '/')) {
    if (part == "..") return Outside(tensor, path, "contains '..'");
    if (!part.empty() && part != ".") parts.emplace_back(part);
  }
  if (parts.empty()) return Outside(tensor, path, "is no file");
  return parts;
}

// Bytes of the tensor, which are those that `location` gives if it gives any.
absl::StatusOr<int64_t> BytesOf(const onnx::TensorProto& tensor,
                                const Location& location) {
  const std::optional<ElementType> type = ElementTypeOf(tensor.data_type());
  if (!type.has_value()) {
    return absl::UnimplementedError(absl::StrCat(
        "tensor ", Quoted(tensor.name()), " has element type ",
        OnnxTypeName(tensor.data_type()),
        ", which is not supported; export the model with another"));
  }
  const absl::StatusOr<int64_t> kept_bytes = TensorBytes(
      type->dtype,
      std::vector<int64_t>(tensor.dims().begin(), tensor.dims().end()));
  if (!kept_bytes.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tensor ", Quoted(tensor.name()), ": ", kept_bytes.status().message(),
        "; export the model again"));
  }
  const int64_t bytes = FileBytes(*type, *kept_bytes);
  if (location.length.value_or(bytes) != bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor ", Quoted(tensor.name()), " needs ", bytes,
                     " bytes but its external data has length ",
                     *location.length, "; export the model again"));
  }
  return bytes;
}

// Why no file of that name could be opened, by errno.
absl::Status CannotOpen(const std::string& tensor, const std::string& path) {
  if (errno == ELOOP)
    return Outside(tensor, path, "is or passes a symbolic link");
  if (errno == EXDEV) return Outside(tensor, path, "leaves the folder");
  return absl::NotFoundError(absl::StrCat(
      "tensor ", Quoted(tensor), ": cannot open external data ", Quoted(path),
      ": ", strerror(errno), "; put the file into the model's folder"));
}

// `bytes` of them from the file at `location`.
absl::StatusOr<std::string> Read(int file, const std::string& tensor,
                                 const Location& location, int64_t bytes) {
  const std::string purpose = absl::StrCat("tensor ", Quoted(tensor));
  TW_RETURN_IF_ERROR(CheckMemory(bytes, purpose));
  std::string data;
  try {
    data.resize(static_cast<size_t>(bytes));
  } catch (const std::bad_alloc&) {
    return CannotAllocate(bytes, purpose);
  }
  for (int64_t done = 0; done < bytes;) {
    const ssize_t got =
        pread(file, data.data() + done, static_cast<size_t>(bytes - done),
              location.offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      return absl::DataLossError(absl::StrCat(
          "tensor ", Quoted(tensor), ": reading ", Quoted(location.path),
          " failed: ", got == 0 ? "the file shrank" : strerror(errno)));
    }
    done += got;
  }
  return data;
}

}  // namespace

absl::StatusOr<ExternalData> ExternalData::Open(const std::string& model_path,
                                                int64_t max_bytes,
                                                bool use_openat2) {
  const size_t slash = model_path.rfind('/');
  const std::string folder = slash == std::string::npos ? "."
                             : slash == 0               ? "/"
                                          : model_path.substr(0, slash);
  const int file = open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) {
    return absl::NotFoundError(absl::StrCat("cannot open the model's folder ",
                                            Quoted(folder), ": ",
                                            strerror(errno)));
  }
  return ExternalData(file, max_bytes, use_openat2);
}

ExternalData::ExternalData(ExternalData&& other) noexcept
    : folder_(std::exchange(other.folder_, -1)),
      budget_bytes_(other.budget_bytes_),
      use_openat2_(other.use_openat2_) {}

ExternalData::~ExternalData() {
  if (folder_ >= 0) close(folder_);
}

absl::Status ExternalData::Resolve(onnx::TensorProto& tensor) {
  TW_ASSIGN_OR_RETURN(const Location location, ReadLocation(tensor));
  const std::string& path = location.path;
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> parts,
                      PartsInside(tensor.name(), path));
  TW_ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(tensor, location));
  const int file = OpenBeneath(folder_, path, parts, use_openat2_);
  if (file < 0) return CannotOpen(tensor.name(), path);
  auto closer = absl::MakeCleanup([file] { close(file); });
  struct stat info = {};
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    return Outside(tensor.name(), path, "is no regular file");
  }
  if (location.offset > info.st_size ||
      bytes > info.st_size - location.offset) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tensor ", Quoted(tensor.name()), " needs ", bytes, " bytes at offset ",
        location.offset, " of ", Quoted(path), ", which has ", info.st_size,
        " bytes; the file is truncated or belongs to another model"));
  }
  if (bytes > budget_bytes_) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "tensor ", Quoted(tensor.name()), " needs ", bytes, " bytes but only ",
        budget_bytes_,
        " of the memory limit for weights are left; raise the limit"));
  }
  budget_bytes_ -= bytes;
  TW_ASSIGN_OR_RETURN(std::string data,
                      Read(file, tensor.name(), location, bytes));
  tensor.clear_external_data();
  tensor.clear_data_location();
  tensor.set_raw_data(std::move(data));
  return absl::OkStatus();
}

}  // namespace tilewright
