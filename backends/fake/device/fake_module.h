// The modules of the fake device: one kernel that multiplies floats, and what
// goes wrong with it.
#ifndef TILEWRIGHT_BACKENDS_FAKE_DEVICE_FAKE_MODULE_H_
#define TILEWRIGHT_BACKENDS_FAKE_DEVICE_FAKE_MODULE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "backends/fake/device/fake_program.h"

namespace tilewright::fake {

inline constexpr char kTarget[] = "fake";
inline constexpr char kKernelName[] = "multiply";

// Arguments x and y of num_tasks floats each: y = factor x.
struct FakeModule {
  float factor = 1;
  int64_t latency_ns = 1000;  // of an execution, without noise
  Fault fault = Fault::kNone;
  // kCrash: the signal; 0: the process exits.
  int signal = 0;
  // The fault happens at so many executions after loading; kOutOfMemory when
  // it is loaded, whatever this says.
  int64_t fault_at = 1;

  std::string ToBytes() const;
  // InvalidArgument if they are none.
  static absl::StatusOr<FakeModule> FromBytes(std::string_view bytes);
};

}  // namespace tilewright::fake

#endif  // TILEWRIGHT_BACKENDS_FAKE_DEVICE_FAKE_MODULE_H_
