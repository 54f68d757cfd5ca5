#include "backends/cuda/device/image_check.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/string_view.h"

namespace tilewright::cuda {
namespace {

constexpr uint16_t kElfMachineCuda = 190;

absl::Status Broken(const char* what) {
  return absl::InvalidArgumentError(
      absl::StrCat("no CUDA module: ", what, "; compile it again"));
}

bool Inside(uint64_t offset, uint64_t size, uint64_t total) {
  return offset <= total && size <= total - offset;
}

template <typename T>
T At(std::string_view bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

absl::Status CheckCubin(std::string_view bytes) {
  if (bytes.size() < sizeof(Elf64_Ehdr)) return Broken("its header is cut off");
  const auto header = At<Elf64_Ehdr>(bytes, 0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != kElfMachineCuda) {
    return Broken("an ELF file for another machine");
  }
  if (header.e_shnum == 0 || header.e_shentsize != sizeof(Elf64_Shdr) ||
      !Inside(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr),
              bytes.size())) {
    return Broken("its section table is cut off");
  }
  for (uint16_t i = 0; i < header.e_shnum; ++i) {
    const auto section = At<Elf64_Shdr>(
        bytes, header.e_shoff + uint64_t{i} * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL &&
        !Inside(section.sh_offset, section.sh_size, bytes.size())) {
      return Broken("a section is cut off");
    }
  }
  if (header.e_phnum == 0) return absl::OkStatus();
  if (header.e_phentsize != sizeof(Elf64_Phdr) ||
      !Inside(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr),
              bytes.size())) {
    return Broken("its segment table is cut off");
  }
  for (uint16_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = At<Elf64_Phdr>(
        bytes, header.e_phoff + uint64_t{i} * sizeof(Elf64_Phdr));
    if (!Inside(segment.p_offset, segment.p_filesz, bytes.size())) {
      return Broken("a segment is cut off");
    }
  }
  return absl::OkStatus();
}

// Comments and empty lines may stand before the version.
bool IsPtx(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return false;
  while (!text.empty()) {
    const size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return false;
    text.remove_prefix(begin);
    if (text.substr(0, 2) != "//") break;
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end);
  }
  return text.substr(0, 8) == ".version";
}

}  // namespace

absl::StatusOr<ImageKind> CheckImage(std::string_view bytes) {
  if (bytes.substr(0, SELFMAG) == std::string_view(ELFMAG, SELFMAG)) {
    TW_RETURN_IF_ERROR(CheckCubin(bytes));
    return ImageKind::kCubin;
  }
  if (IsPtx(bytes)) return ImageKind::kPtx;
  return Broken("neither a cubin nor PTX");
}

absl::Status CheckArchitecture(std::string_view target, ImageKind kind,
                               int major, int minor) {
  const std::string text(target);
  const bool known = target.substr(0, 3) == "sm_";
  std::string digits = known ? text.substr(3) : "";
  const bool exact = !digits.empty() && digits.back() == 'a';
  if (exact) digits.pop_back();
  int number = 0;
  if (!absl::SimpleAtoi(digits, &number) || number < 10) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", text, "' is no CUDA architecture: write sm_80, sm_90a, ..."));
  }
  const int code_major = number / 10, code_minor = number % 10;
  const bool fits =
      exact ? code_major == major && code_minor == minor
      : kind == ImageKind::kCubin
          ? code_major == major && code_minor <= minor
          : code_major < major || (code_major == major && code_minor <= minor);
  if (fits) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the module is for ", text, ", this device is sm_", major,
                   minor, ": compile it for that"));
}

}  // namespace tilewright::cuda
