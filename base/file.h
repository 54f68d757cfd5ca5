#ifndef TILEWRIGHT_BASE_FILE_H_
#define TILEWRIGHT_BASE_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tilewright {

// Whole files. Every error is one line that names the path, says what is wrong
// and what to do:
//   kNotFound            no such file or folder
//   kPermissionDenied    not allowed, or a read-only file system
//   kInvalidArgument     a folder where a file is meant, a bad path
//   kResourceExhausted   larger than the limit; the disk or a quota is full
//   kUnavailable         any other failure of the device

// The file's bytes. A file of more than `max_bytes` is an error, and is not
// read.
absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     int64_t max_bytes);

// Readers see the old file or the new one, never a part: the bytes go to a
// temporary file beside `path`, reach the disk, and are renamed. On failure the
// old file stays and the temporary one is removed. What exists and is no
// regular file (a device, a pipe) is written to directly.
absl::Status WriteFileAtomically(const std::string& path,
                                 std::string_view contents);
// The same of parts that follow one another.
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::Span<const std::string_view> parts);

}  // namespace tilewright

#endif  // TILEWRIGHT_BASE_FILE_H_
