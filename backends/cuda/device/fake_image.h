// Modules for the fake driver (fake_driver.cc): an ELF file as the device
// expects it, then lines that say what the driver could not know.
#ifndef TILEWRIGHT_BACKENDS_CUDA_DEVICE_FAKE_IMAGE_H_
#define TILEWRIGHT_BACKENDS_CUDA_DEVICE_FAKE_IMAGE_H_

#include <string>
#include <vector>

namespace tilewright::cuda {

struct FakeKernel {
  std::string name;
  int buffers = 0;    // that it takes
  int threads = 128;  // of a block, as __launch_bounds__ would say
};

// Kernels that the fake driver knows by name:
//   fake_add       out[task] = a[task] + b[task], f32
//   fake_fault     touches an address that is not there
//   fake_assert    fails an assertion
//   fake_hang_ms   runs for as many milliseconds as its buffer's first int says
// "k=fake_fault": a kernel called k that does that.
std::string FakeImage(const std::vector<FakeKernel>& kernels);

// The kernels of a module of the CPU backend, or of the emulator.
std::string FakeImageOfCpuModule(std::string module,
                                 const std::vector<FakeKernel>& kernels);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_BACKENDS_CUDA_DEVICE_FAKE_IMAGE_H_
