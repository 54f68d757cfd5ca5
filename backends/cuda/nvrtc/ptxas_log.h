// Reads what ptxas says of each kernel (--ptxas-options=-v): the only place
// where spills are told without a driver.
#ifndef TILEWRIGHT_BACKENDS_CUDA_NVRTC_PTXAS_LOG_H_
#define TILEWRIGHT_BACKENDS_CUDA_NVRTC_PTXAS_LOG_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace tilewright::cuda {

struct KernelResources {
  int registers = 0;  // of a thread, of 32 bits
  int64_t stack_bytes = 0;
  int64_t spill_store_bytes = 0;  // of code, not of a run
  int64_t spill_load_bytes = 0;
  int64_t shared_bytes = 0;  // declared in the text; launches may add to them
};

// By kernel. Kernels of which the log does not say all are left out; lines of
// other kinds are passed over.
std::map<std::string, KernelResources> ReadPtxasLog(std::string_view log);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_BACKENDS_CUDA_NVRTC_PTXAS_LOG_H_
