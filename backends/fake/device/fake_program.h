// Programs to tune on the fake device, with candidates that fail in every way
// that real ones do.
#ifndef TILEWRIGHT_BACKENDS_FAKE_DEVICE_FAKE_PROGRAM_H_
#define TILEWRIGHT_BACKENDS_FAKE_DEVICE_FAKE_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "backends/fake/device/shared_device.h"

namespace tilewright::fake {

enum class Fault : uint8_t {
  kNone,
  kCrash,        // takes its worker with it
  kStickyError,  // every later call of its context fails: the same
  kWrongResult,
  kOutOfMemory,  // does not load
  kHang,         // never ends; occupies the device
};

// A situation to measure in (design: measuring.md). All times: lognormal.
struct Setting {
  std::string name;
  bool new_context_per_candidate = false;  // else one per worker
  double median_build_ns = 0;              // sigma 0.5
  double low_ns = 0, high_ns = 0;          // base latencies: 3 sigma each way
  bool fills_device = false;               // u = v = 1, else in [0.05, 1]
  double failure_share = 0.05;             // evenly among the first four faults
  double hang_share = 0.01;
};

Setting StartUpSetting();  // as DOPpler's paper describes
Setting KernelSetting();
Setting BuildSetting();
Setting NoGainSetting();  // where parallelism should not help

struct FakeCandidate {
  double build_ns = 0;
  double base_latency_ns = 0;
  Fault fault = Fault::kNone;
};

struct FakeProgram {
  Demand demand;  // the same for all candidates
  std::vector<FakeCandidate> candidates;
};

// `program` says which one, `seed` gives its candidates.
FakeProgram DrawProgram(const Setting& setting, int candidates,
                        uint64_t program, uint64_t seed);

}  // namespace tilewright::fake

#endif  // TILEWRIGHT_BACKENDS_FAKE_DEVICE_FAKE_PROGRAM_H_
