// The limits of a kernel's speed on this machine: multiply-adds, and the bytes
// each level of memory moves. Measured, or as a device spec has it.
#ifndef TILEWRIGHT_TOOLS_PROFILE_LIMITS_H_
#define TILEWRIGHT_TOOLS_PROFILE_LIMITS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "measure/machine/fma_peak.h"
#include "measure/machine/memory_peak.h"

namespace tilewright::tools {

// Rates of all threads together.
struct Limits {
  struct Level {
    std::string name;           // "l2"
    double capacity_bytes = 0;  // of all instances in use; infinite for memory
    double gbytes_per_s = 0;    // 10^9 bytes, read plus written
  };
  double gflops = 0;          // f32
  std::vector<Level> levels;  // innermost first, memory last, never empty
  std::string source;         // for people: "measured in this run (AVX-512)"

  // The innermost level that holds so many bytes.
  const Level& LevelFor(double bytes) const;
};

// The spec's committed figures for so many threads, or cores of a GPU; levels
// without one are left out.
Limits LimitsOfSpec(const DeviceSpec& spec, int threads);

// Measures them; the spec only says how large the levels are.
class LimitSampler {
 public:
  LimitSampler(const DeviceSpec& spec, int threads);
  // About a third of a second. Call it before, between and after what is
  // measured: the best sample counts. Leaves other data in the caches.
  void Sample();
  Limits limits() const;

 private:
  Limits structure_;
  measure::FmaPeak fma_;
  std::vector<std::unique_ptr<measure::MemoryPeak>> memory_;  // by level
};

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_PROFILE_LIMITS_H_
