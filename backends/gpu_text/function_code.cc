#include "backends/gpu_text/function_code.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ar_archive.h"

namespace tilewright::gpu_text {
namespace {

template <typename T>
std::optional<T> At(std::string_view bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return {};
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::map<std::string, std::string_view> FunctionsOf(std::string_view elf) {
  std::map<std::string, std::string_view> functions;
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
    for (uint64_t entry = 0; entry + sizeof(Elf64_Sym) <= table->sh_size;
         entry += sizeof(Elf64_Sym)) {
      const auto symbol = At<Elf64_Sym>(elf, table->sh_offset + entry);
      if (!symbol) return {};
      const uint64_t name = strings->sh_offset + symbol->st_name;
      if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || name >= elf.size())
        continue;
      if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= header->e_shnum)
        continue;
      const auto code = section(symbol->st_shndx);
      if (!code || symbol->st_value < code->sh_addr) return {};
      const uint64_t at = code->sh_offset + symbol->st_value - code->sh_addr;
      if (at > elf.size() || elf.size() - at < symbol->st_size) return {};
      const std::string_view rest = elf.substr(name);
      functions[std::string(rest.substr(0, rest.find('\0')))] =
          elf.substr(at, symbol->st_size);
    }
  }
  return functions;
}

}  // namespace

std::map<std::string, std::string_view> FunctionCode(std::string_view module) {
  if (!IsArArchive(module)) return FunctionsOf(module);
  std::map<std::string, std::string_view> functions;
  const absl::StatusOr<std::vector<ArView>> files = ReadArArchive(module);
  if (!files.ok()) return {};
  for (const ArView& file : *files) functions.merge(FunctionsOf(file.bytes));
  return functions;
}

}  // namespace tilewright::gpu_text
