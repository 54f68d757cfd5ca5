// Modules of the fake driver: kernels of the CPU's, of the test's, or built in.
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>

#include "backends/cpu/kernel_abi.h"
#include "backends/cuda/device/fake_device.h"
#include "backends/cuda/device/fake_driver.h"
#include "backends/emulator/module_abi.h"

namespace tilewright::cuda::fake {
namespace {

using cpu::KernelArgs;
using cpu::KernelFunction;
using Run = decltype(FakeFunction::run);

std::atomic<FakeCudaHostKernel*> host_kernel{nullptr};

CuResult Add(void* const* buffers, int64_t block, void*) {
  auto* const* floats = reinterpret_cast<float* const*>(buffers);
  floats[2][block] = floats[0][block] + floats[1][block];
  return kCuSuccess;
}

CuResult Hang(void* const* buffers, int64_t, void*) {
  std::this_thread::sleep_for(
      std::chrono::milliseconds(*static_cast<const int*>(buffers[0])));
  return kCuSuccess;
}

Run BuiltIn(const std::string& name) {
  if (name == "fake_add") return Add;
  if (name == "fake_hang_ms") return Hang;
  if (name == "fake_fault") {
    return [](void* const*, int64_t, void*) { return kIllegalAddress; };
  }
  if (name == "fake_assert") {
    return [](void* const*, int64_t, void*) { return kAssert; };
  }
  if (FakeCudaHostKernel* const kernel = host_kernel) {
    return [name, kernel](void* const* buffers, int64_t block, void*) {
      kernel(name.c_str(), buffers, block);
      return kCuSuccess;
    };
  }
  return nullptr;
}

// A kernel of the CPU's, or of the emulator's.
Run OfCpu(void* object, const std::string& name) {
  void* symbol = dlsym(object, (emulator::kRunPrefix + name).c_str());
  if (symbol == nullptr) symbol = dlsym(object, name.c_str());
  const auto function = reinterpret_cast<KernelFunction>(symbol);
  if (function == nullptr) return nullptr;
  return [function](void* const* buffers, int64_t block, void* shared) {
    const KernelArgs args = {buffers, nullptr};
    return function(&args, block, block + 1, shared) == cpu::kKernelOk
               ? kCuSuccess
               : kLaunchFailed;
  };
}

// As the driver does it: the size follows from the headers.
size_t ElfBytes(const char* image, const Elf64_Ehdr& header) {
  size_t size = header.e_shoff + size_t{header.e_shnum} * sizeof(Elf64_Shdr);
  for (int i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image + header.e_shoff + i * sizeof(section),
                sizeof(section));
    if (section.sh_type != SHT_NOBITS) {
      size = std::max<size_t>(size, section.sh_offset + section.sh_size);
    }
  }
  return size;
}

void OpenElf(std::string bytes, FakeModule& module) {
  const uint16_t machine = EM_X86_64;
  std::memcpy(&bytes[offsetof(Elf64_Ehdr, e_machine)], &machine,
              sizeof(machine));
  module.file = memfd_create("fake_module", MFD_CLOEXEC);
  if (write(module.file, bytes.data(), bytes.size()) ==
      static_cast<ssize_t>(bytes.size())) {
    module.object =
        dlopen(("/proc/self/fd/" + std::to_string(module.file)).c_str(),
               RTLD_NOW | RTLD_LOCAL);
  }
}

}  // namespace

FakeModule::~FakeModule() {
  if (object != nullptr) dlclose(object);
  if (file >= 0) close(file);
}

std::unique_ptr<FakeModule> LoadImage(const char* image) {
  Elf64_Ehdr header;
  if (std::memcmp(image, ELFMAG, SELFMAG) != 0) return nullptr;
  std::memcpy(&header, image, sizeof(header));
  const size_t size = ElfBytes(image, header);
  auto module = std::make_unique<FakeModule>();
  if (header.e_phnum > 0) {
    OpenElf(std::string(image, size), *module);
    if (module->object == nullptr) return nullptr;
  }
  std::istringstream lines(image + size);
  std::string name;
  while (lines >> name && name != "end") {
    FakeFunction function;
    lines >> function.buffers >> function.threads;
    function.run = module->object != nullptr
                       ? OfCpu(module->object, name)
                       : BuiltIn(name.substr(name.find('=') + 1));
    if (function.run != nullptr)
      module->functions[name.substr(0, name.find('='))] = function;
  }
  return name == "end" ? std::move(module) : nullptr;
}

CuResult RunBlocks(const FakeFunction& function,
                   const std::vector<void*>& buffers, unsigned blocks,
                   unsigned shared_bytes) {
  constexpr size_t kAlignment = 64;
  const size_t bytes =
      (shared_bytes + 2 * kAlignment) / kAlignment * kAlignment;
  void* const shared = std::aligned_alloc(kAlignment, bytes);
  CuResult result = kCuSuccess;
  for (unsigned block = 0; block < blocks && result == kCuSuccess; ++block) {
    std::memset(shared, 0xff, bytes);
    result = function.run(buffers.data(), block, shared);
  }
  std::free(shared);
  return result;
}

}  // namespace tilewright::cuda::fake

TILEWRIGHT_EXPORT void FakeCuda_SetHostKernel(FakeCudaHostKernel* kernel) {
  tilewright::cuda::fake::host_kernel = kernel;
}
