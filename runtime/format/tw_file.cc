#include "runtime/format/tw_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace tilewright {
namespace {

constexpr char kMagic[] = "TWRIGHT\n";
constexpr size_t kMagicBytes = 8;
constexpr size_t kPage = 4096;
constexpr size_t kChecksumOffset = 120;
constexpr size_t kHeaderBytes = 136;
constexpr size_t kFirstSection = 24;

struct Section {
  uint64_t offset;
  uint64_t size;
  std::string_view fingerprint;  // 16 bytes
};

void PutU32(std::string& out, uint32_t value) {
  for (int i = 0; i < 4; ++i)
    out.push_back(static_cast<char>(value >> (8 * i)));
}
void PutU64(std::string& out, uint64_t value) {
  for (int i = 0; i < 8; ++i)
    out.push_back(static_cast<char>(value >> (8 * i)));
}
uint64_t GetUnsigned(std::string_view bytes, size_t at, int count) {
  uint64_t value = 0;
  for (int i = count - 1; i >= 0; --i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

std::string FingerprintBytes(std::string_view bytes) {
  const Fingerprint fingerprint = Fingerprint::Of(bytes);
  std::string out;
  PutU64(out, fingerprint.high);
  PutU64(out, fingerprint.low);
  return out;
}

uint64_t RoundUp(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}

absl::StatusOr<std::string_view> ReadSection(std::string_view bytes, int index,
                                             absl::string_view what) {
  const size_t at = kFirstSection + 32 * static_cast<size_t>(index);
  const uint64_t offset = GetUnsigned(bytes, at, 8);
  const uint64_t size = GetUnsigned(bytes, at + 8, 8);
  if (offset > bytes.size() || size > bytes.size() - offset) {
    return absl::DataLossError(absl::StrCat(
        "its ", what,
        " section lies outside the file; compile the model again"));
  }
  const std::string_view section = bytes.substr(offset, size);
  if (FingerprintBytes(section) != bytes.substr(at + 16, 16)) {
    return absl::DataLossError(absl::StrCat(
        "its ", what,
        " section is damaged (checksum differs); compile the model again"));
  }
  return section;
}

}  // namespace

TwParts::TwParts(const Program& program, std::string_view module,
                 std::string_view constants)
    : module_(module), constants_(constants) {
  std::string program_bytes;
  {
    google::protobuf::io::StringOutputStream stream(&program_bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    program.SerializeToCodedStream(&coded);
  }
  const std::string_view sections[] = {program_bytes, module, constants};
  uint64_t offsets[3];
  uint64_t end = kHeaderBytes;
  for (int i = 0; i < 3; ++i) {
    offsets[i] = i == 0 ? end : RoundUp(end, kPage);
    end = offsets[i] + sections[i].size();
  }
  head_.assign(kMagic, kMagicBytes);
  PutU32(head_, kTwFormatVersion);
  PutU32(head_, 0);
  PutU64(head_, end);
  for (int i = 0; i < 3; ++i) {
    PutU64(head_, offsets[i]);
    PutU64(head_, sections[i].size());
    head_ += FingerprintBytes(sections[i]);
  }
  head_ += FingerprintBytes(head_);
  head_ += program_bytes;
  head_.resize(offsets[1], '\0');
  padding_.assign(offsets[2] - offsets[1] - module.size(), '\0');
}

int64_t TwParts::size_bytes() const {
  return static_cast<int64_t>(head_.size() + module_.size() + padding_.size() +
                              constants_.size());
}

std::string SerializeTw(const Program& program, std::string_view module,
                        std::string_view constants) {
  const TwParts file(program, module, constants);
  std::string bytes;
  bytes.reserve(static_cast<size_t>(file.size_bytes()));
  for (const std::string_view part : file.parts()) bytes += part;
  return bytes;
}

absl::StatusOr<TwView> ParseTw(std::string_view bytes) {
  if (bytes.substr(0, kMagicBytes) != std::string_view(kMagic, kMagicBytes)) {
    return absl::InvalidArgumentError(
        "not a .tw file; make one with 'tilewright compile MODEL.onnx -o "
        "OUT.tw'");
  }
  if (bytes.size() < kHeaderBytes)
    return absl::DataLossError(
        "truncated inside its header; compile the model again");
  const uint64_t version = GetUnsigned(bytes, 8, 4);
  if (version != kTwFormatVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        "has format version ", version, ", this build reads version ",
        kTwFormatVersion, "; compile the model again with this build"));
  }
  const uint64_t size = GetUnsigned(bytes, 16, 8);
  if (size > bytes.size()) {
    return absl::DataLossError(absl::StrCat("truncated: ", bytes.size(), " of ",
                                            size,
                                            " bytes; compile the model again"));
  }
  if (FingerprintBytes(bytes.substr(0, kChecksumOffset)) !=
          bytes.substr(kChecksumOffset, 16) ||
      size != bytes.size()) {
    return absl::DataLossError(
        "its header is damaged; compile the model again");
  }
  TwView view;
  TW_ASSIGN_OR_RETURN(const std::string_view program_bytes,
                      ReadSection(bytes, 0, "program"));
  TW_ASSIGN_OR_RETURN(view.module, ReadSection(bytes, 1, "module"));
  TW_ASSIGN_OR_RETURN(view.constants, ReadSection(bytes, 2, "constants"));
  if (program_bytes.size() > (1u << 30) ||
      !view.program.ParseFromArray(program_bytes.data(),
                                   static_cast<int>(program_bytes.size()))) {
    return absl::DataLossError(
        "its program cannot be decoded; compile the model again");
  }
  TW_RETURN_IF_ERROR(
      VerifyProgram(view.program, static_cast<int64_t>(view.constants.size())));
  return view;
}

absl::StatusOr<std::unique_ptr<TwFile>> TwFile::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    const std::string why = std::strerror(errno);
    return errno == ENOENT
               ? absl::NotFoundError(absl::StrCat(path, ": no such file"))
               : absl::PermissionDeniedError(
                     absl::StrCat(path, ": cannot be opened: ", why));
  }
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) {
    close(fd);
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": not a .tw file (empty or no regular file)"));
  }
  const size_t size = static_cast<size_t>(info.st_size);
  void* address =
      mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
  close(fd);
  if (address == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path, ": cannot be mapped: ", std::strerror(errno)));
  }
  std::unique_ptr<TwFile> file(new TwFile(address, size));
  absl::StatusOr<TwView> view =
      ParseTw(std::string_view(static_cast<const char*>(address), size));
  if (!view.ok())
    return absl::Status(view.status().code(),
                        absl::StrCat(path, ": ", view.status().message()));
  file->view_ = *std::move(view);
  return file;
}

TwFile::~TwFile() { munmap(address_, size_bytes_); }

}  // namespace tilewright
