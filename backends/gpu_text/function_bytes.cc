#include "backends/gpu_text/function_bytes.h"

#include <elf.h>

#include <cstring>
#include <optional>

namespace tilewright::gpu_text {
namespace {

template <typename T>
std::optional<T> At(std::string_view bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return {};
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

}  // namespace

std::map<std::string, int64_t> FunctionBytes(std::string_view elf) {
  std::map<std::string, int64_t> sizes;
  const auto header = At<Elf64_Ehdr>(elf, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return {};
  const auto section = [&](uint64_t index) {
    return At<Elf64_Shdr>(elf, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  for (uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto table = section(i);
    if (!table) return {};
    if (table->sh_type != SHT_SYMTAB && table->sh_type != SHT_DYNSYM) continue;
    const auto strings = section(table->sh_link);
    if (!strings) return {};
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size;
         at += sizeof(Elf64_Sym)) {
      const auto symbol = At<Elf64_Sym>(elf, table->sh_offset + at);
      if (!symbol) return {};
      const uint64_t name = strings->sh_offset + symbol->st_name;
      if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || name >= elf.size())
        continue;
      const std::string_view rest = elf.substr(name);
      sizes[std::string(rest.substr(0, rest.find('\0')))] =
          static_cast<int64_t>(symbol->st_size);
    }
  }
  return sizes;
}

}  // namespace tilewright::gpu_text
