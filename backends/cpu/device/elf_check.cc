#include "backends/cpu/device/elf_check.h"

#include <elf.h>

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"

namespace tilewright::cpu {
namespace {

absl::Status NoModule(const std::string& why) {
  return absl::InvalidArgumentError(
      absl::StrCat("these bytes are no CPU module: ", why));
}

// Whether [offset, offset + size) lies within `total`.
bool Within(uint64_t offset, uint64_t size, uint64_t total) {
  return offset <= total && size <= total - offset;
}

template <typename T>
T At(std::string_view bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

}  // namespace

absl::Status CheckSharedObject(std::string_view bytes) {
  if (bytes.size() < sizeof(Elf64_Ehdr) ||
      std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) {
    return NoModule("not an ELF file");
  }
  const auto header = At<Elf64_Ehdr>(bytes, 0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_X86_64 ||
      header.e_type != ET_DYN) {
    return NoModule("not a 64-bit x86 shared object");
  }
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 ||
      !Within(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr),
              bytes.size())) {
    return NoModule("truncated or damaged program headers");
  }
  bool dynamic = false;
  for (int i = 0; i < header.e_phnum; ++i) {
    const auto segment = At<Elf64_Phdr>(
        bytes, header.e_phoff + static_cast<uint64_t>(i) * sizeof(Elf64_Phdr));
    if (!Within(segment.p_offset, segment.p_filesz, bytes.size())) {
      return NoModule("truncated: a segment ends beyond the file");
    }
    if (segment.p_type == PT_INTERP) return NoModule("it is a program");
    if (segment.p_type != PT_DYNAMIC) continue;
    dynamic = true;
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz;
         at += sizeof(Elf64_Dyn)) {
      const auto entry = At<Elf64_Dyn>(bytes, segment.p_offset + at);
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_NEEDED) return NoModule("it needs other libraries");
    }
  }
  if (!dynamic) return NoModule("it exports nothing");
  return absl::OkStatus();
}

}  // namespace tilewright::cpu
