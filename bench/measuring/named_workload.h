// A workload in a file, and its default schedule on this CPU.
#ifndef TILEWRIGHT_BENCH_MEASURING_NAMED_WORKLOAD_H_
#define TILEWRIGHT_BENCH_MEASURING_NAMED_WORKLOAD_H_

#include <string>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/schedule.h"
#include "sketch/workload.h"

namespace tilewright::bench {

struct NamedWorkload {
  std::string name;  // the file's, without folders and its last suffix
  sketch::Workload workload;
  DeviceSpec spec;  // of this CPU
  sketch::Schedule schedule;
};

// Errors of the file, of the text in it, and of the default schedule.
absl::StatusOr<NamedWorkload> ReadWorkload(const std::string& path);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_MEASURING_NAMED_WORKLOAD_H_
