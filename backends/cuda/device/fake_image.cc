#include "backends/cuda/device/fake_image.h"

#include <elf.h>

#include <cstddef>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace tilewright::cuda {
namespace {

constexpr uint16_t kElfMachineCuda = 190;

}  // namespace

std::string FakeImageOfCpuModule(std::string module,
                                 const std::vector<FakeKernel>& kernels) {
  std::memcpy(&module[offsetof(Elf64_Ehdr, e_machine)], &kElfMachineCuda,
              sizeof(kElfMachineCuda));
  for (const FakeKernel& kernel : kernels) {
    absl::StrAppend(&module, kernel.name, " ", kernel.buffers, " ",
                    kernel.threads, "\n");
  }
  return module + "end\n";
}

std::string FakeImage(const std::vector<FakeKernel>& kernels) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = sizeof(Elf64_Ehdr);
  header.e_shnum = 1;
  header.e_shentsize = sizeof(Elf64_Shdr);
  const Elf64_Shdr section = {};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes.append(reinterpret_cast<const char*>(&section), sizeof(section));
  return FakeImageOfCpuModule(std::move(bytes), kernels);
}

}  // namespace tilewright::cuda
