// For tests: the fake driver's own symbols, called.
#ifndef TILEWRIGHT_BACKENDS_CUDA_DEVICE_FAKE_DRIVER_HANDLE_H_
#define TILEWRIGHT_BACKENDS_CUDA_DEVICE_FAKE_DRIVER_HANDLE_H_

#include <dlfcn.h>

#include <string>

#include "backends/cuda/device/fake_driver.h"
#include "base/check.h"

namespace tilewright::cuda {

// Where tests find it, from the folder that they run in.
inline constexpr char kFakeDriver[] = "backends/cuda/device/libfake_cuda.so";

template <typename F>
F* FakeSymbol(const char* name) {
  static void* const handle = [] {
    void* opened = dlopen((std::string("./") + kFakeDriver).c_str(), RTLD_NOW);
    TW_CHECK(opened != nullptr) << dlerror();
    return opened;
  }();
  auto* const symbol = reinterpret_cast<F*>(dlsym(handle, name));
  TW_CHECK(symbol != nullptr) << name;
  return symbol;
}

inline void FailNext(const char* symbol, int result) {
  FakeSymbol<FakeCudaFailNext>("FakeCuda_FailNext")(symbol, result);
}
inline std::string CallLog() {
  return FakeSymbol<FakeCudaLog>("FakeCuda_Log")();
}
inline int LiveObjects() { return FakeSymbol<FakeCudaLive>("FakeCuda_Live")(); }
inline void Heal() { FakeSymbol<FakeCudaHeal>("FakeCuda_Heal")(); }

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_BACKENDS_CUDA_DEVICE_FAKE_DRIVER_HANDLE_H_
