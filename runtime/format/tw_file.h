// The .tw file: one compiled model. Layout, little-endian:
//
//   bytes 0..7     magic "TWRIGHT\n"
//   bytes 8..11    format version (kTwFormatVersion); readers refuse any other
//   bytes 12..15   zero
//   bytes 16..23   size of the whole file
//   bytes 24..119  three sections, each: offset (u64), size (u64),
//                  fingerprint (16 bytes): Program proto, module, constants
//   bytes 120..135 fingerprint of bytes 0..119
//   then the sections; module and constants start at multiples of 4096
//
// Checksums find damage, not malice: loading a .tw runs its code. Load only
// files you would also execute.
#ifndef TILEWRIGHT_RUNTIME_FORMAT_TW_FILE_H_
#define TILEWRIGHT_RUNTIME_FORMAT_TW_FILE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/format/program.pb.h"

namespace tilewright {

inline constexpr uint32_t kTwFormatVersion = 2;

// The bytes of the file, in parts that follow one another: a module and
// constants, which may be most of the memory there is, are not copied. Same
// arguments, same bytes.
class TwParts {
 public:
  // `module` and `constants` are borrowed.
  TwParts(const Program& program, std::string_view module,
          std::string_view constants);

  std::array<std::string_view, 4> parts() const {
    return {head_, module_, padding_, constants_};
  }
  int64_t size_bytes() const;

 private:
  std::string head_;  // the header and the program, up to the module
  std::string_view module_;
  std::string padding_;
  std::string_view constants_;
};

// The same bytes as one string.
std::string SerializeTw(const Program& program, std::string_view module,
                        std::string_view constants);

// Views into the bytes of a file.
struct TwView {
  Program program;
  std::string_view module;
  std::string_view constants;
};

// Checks magic, version, sizes, checksums and that the program is one
// (VerifyProgram). DataLoss: damaged or truncated; FailedPrecondition: another
// format version; InvalidArgument: not a .tw file, or a program that makes no
// sense. Never reads outside `bytes`.
absl::StatusOr<TwView> ParseTw(std::string_view bytes);

// Every buffer inside its section or the arena, every step and every argument
// of a launch inside its buffer, every index in range, sizes that cannot
// overflow, copies and zeros that write no byte twice, names that are text on
// one line. What is left to trust is the code, and that `kernels` describes it.
absl::Status VerifyProgram(const Program& program, int64_t constants_bytes);

// A mapped file; the views live as long as this object.
class TwFile {
 public:
  // NotFound if there is none; else ParseTw's errors, with the path.
  static absl::StatusOr<std::unique_ptr<TwFile>> Open(const std::string& path);
  ~TwFile();
  TwFile(const TwFile&) = delete;
  TwFile& operator=(const TwFile&) = delete;

  const TwView& view() const { return view_; }

 private:
  TwFile(void* address, size_t size_bytes)
      : address_(address), size_bytes_(size_bytes) {}
  void* address_;
  size_t size_bytes_;
  TwView view_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_FORMAT_TW_FILE_H_
