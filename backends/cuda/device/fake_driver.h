// How a test talks to the fake driver beside the driver's own API: the shared
// object also has the symbols FakeCuda_FailNext, ... of these types.
#ifndef TILEWRIGHT_BACKENDS_CUDA_DEVICE_FAKE_DRIVER_H_
#define TILEWRIGHT_BACKENDS_CUDA_DEVICE_FAKE_DRIVER_H_

#include <cstdint>

namespace tilewright::cuda {

inline constexpr char kRecordSymbol[] = "record";
enum RecordFate : int {
  kRecordLost = 1,
  kRecordLate = 2,  // comes with the next one that is not
  kRecordTwice = 3,
  kRecordUntimed = 4,
};

}  // namespace tilewright::cuda

extern "C" {

// The next call of `symbol` returns `result`, and does nothing else; with
// cuptiActivityFlushAll the records are dropped. The "symbol" kRecordSymbol
// stands for the profiler's next record, `result` a RecordFate.
using FakeCudaFailNext = void(const char* symbol, int result);
// The names of the functions called so far that set something up, in order,
// each followed by a space: cuInit, cuptiActivityEnable, ...
using FakeCudaLog = const char*();
// Allocations, modules, streams and events that were not given back.
using FakeCudaLive = int();
// Heals what a sticky error broke, as a new process would.
using FakeCudaHeal = void();
// Runs block `block` of a kernel that the fake driver does not know.
using FakeCudaHostKernel = void(const char* name, void* const* buffers,
                                int64_t block);
// Whom the modules loaded from now on ask for such kernels.
using FakeCudaSetHostKernel = void(FakeCudaHostKernel* kernel);
// Tells the shape of the last launch: blocks, threads of a block, shared bytes.
using FakeCudaLastLaunch = void(int* blocks, int* threads, int* shared_bytes);

}  // extern "C"

#endif  // TILEWRIGHT_BACKENDS_CUDA_DEVICE_FAKE_DRIVER_H_
