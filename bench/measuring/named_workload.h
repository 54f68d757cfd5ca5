// A workload in a file, who writes its schedules, and its default schedule.
#ifndef TILEWRIGHT_BENCH_MEASURING_NAMED_WORKLOAD_H_
#define TILEWRIGHT_BENCH_MEASURING_NAMED_WORKLOAD_H_

#include <string>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"

namespace tilewright::bench {

struct NamedWorkload {
  std::string name;  // the file's, without folders and its last suffix
  sketch::Workload workload;
  DeviceSpec spec;
  // The best one of the workload's generators.
  sketch::Generator generator;
  sketch::Schedule schedule;  // that it prefers
};

// A file holds the workload's text. Of a fused group, lines "#wish LINE" hold
// what the planner wishes of it (fused_wishes.h). Schedules are for this CPU,
// as if it was of class `cpu_class` ("x86-64-v3") unless that is empty.
//
// Errors of the file, of the text in it, of the class, and of the default
// schedule.
absl::StatusOr<NamedWorkload> ReadWorkload(const std::string& path,
                                           const std::string& cpu_class = "");

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_MEASURING_NAMED_WORKLOAD_H_
