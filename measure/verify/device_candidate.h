// Candidates that run on a device.
#ifndef TILEWRIGHT_MEASURE_VERIFY_DEVICE_CANDIDATE_H_
#define TILEWRIGHT_MEASURE_VERIFY_DEVICE_CANDIDATE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/device.h"
#include "measure/verify/candidate.h"

namespace tilewright::measure {

// A new device with that many threads, whose scratch is guarded on that side
// and undefined before every chunk of tasks, where the device can do that.
// Called in the child process that runs the candidate: threads of a device made
// earlier would not be there.
using DeviceFactory =
    std::function<absl::StatusOr<std::unique_ptr<backends::Device>>(
        int threads, GuardSide scratch_guard)>;

// One kernel of a module.
struct ModuleKernel {
  std::string module;  // what Device::LoadModule takes
  std::string target;
  std::string name;
  int64_t num_tasks = 1;
  int64_t scratch_bytes = 0;
};

// Makes a device and loads the module for every run.
Candidate DeviceCandidate(DeviceFactory factory, ModuleKernel kernel);

// Runs it on a device and a stream that are there already, and outlive it.
Candidate CandidateOnDevice(backends::Device* device, backends::Stream* stream,
                            ModuleKernel kernel);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_VERIFY_DEVICE_CANDIDATE_H_
