#include "measure/worker/fake/fake_worker.h"

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "backends/fake/device/fake_device.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::fake {
namespace {

using sketch::ScheduleProto;

int64_t Value(const ScheduleProto& schedule, const char* name) {
  for (const sketch::DecisionProto& decision : schedule.decisions()) {
    int64_t value = 0;
    if (decision.name() == name && absl::SimpleAtoi(decision.value(), &value))
      return value;
  }
  return 0;
}

absl::StatusOr<measure::BuiltCandidate> Build(const sketch::Workload& workload,
                                              const ScheduleProto& schedule) {
  switch (static_cast<BuildFault>(Value(schedule, "build_fault"))) {
    case BuildFault::kNone:
      break;
    case BuildFault::kError:
      return absl::UnimplementedError("this schedule cannot be built");
    case BuildFault::kCrash:
      std::abort();
    case BuildFault::kHang:
      while (true) pause();
  }
  if (workload.graph.size() != 2) {
    return absl::InvalidArgumentError("no workload of the fake device");
  }
  FakeModule module;
  module.factor = static_cast<float>(Value(schedule, "factor"));
  module.latency_ns = Value(schedule, "latency_ns");
  module.fault = static_cast<Fault>(Value(schedule, "fault"));
  module.signal = static_cast<int>(Value(schedule, "signal"));
  module.fault_at = Value(schedule, "fault_at");
  measure::BuiltCandidate built;
  built.set_module(module.ToBytes());
  built.set_target(kTarget);
  built.set_kernel(kKernelName);
  for (const Tensor& tensor : workload.graph.tensors()) {
    const Layout layout = Layout::RowMajor(tensor.static_shape());
    built.set_num_tasks(layout.physical_elements());
    measure::BuiltCandidate::Argument& argument = *built.add_arguments();
    argument.set_tensor(tensor.id);
    argument.set_layout(layout.ToString());
  }
  return built;
}

measure::WorkerBackend Backend(std::string name, bool unified_memory) {
  measure::WorkerBackend backend;
  backend.name = std::move(name);
  backend.builder = [](const std::string&) -> measure::BuildFunction {
    return Build;
  };
  backend.device = [unified_memory](const std::string& options, int) {
    FakeDeviceOptions device;
    device.unified_memory = unified_memory;
    device.lost_while_exists = options;
    return CreateFakeDevice(device);
  };
  backend.timer = measure::MakeTimer;
  if (unified_memory) {
    backend.verifying_device = [](int, measure::GuardSide) {
      return CreateFakeDevice();
    };
  }
  return backend;
}

}  // namespace

ScheduleProto FakeSchedule::ToProto() const {
  ScheduleProto proto;
  const auto add = [&proto](const char* name, int64_t value) {
    sketch::DecisionProto& decision = *proto.add_decisions();
    decision.set_name(name);
    decision.set_value(absl::StrCat(value));
  };
  add("id", id);
  add("factor", static_cast<int64_t>(module.factor));
  add("latency_ns", module.latency_ns);
  add("fault", static_cast<int64_t>(module.fault));
  add("signal", module.signal);
  add("fault_at", module.fault_at);
  add("build_fault", static_cast<int64_t>(build_fault));
  return proto;
}

sketch::Workload FakeWorkload(int64_t elements, int factor) {
  absl::StatusOr<sketch::Workload> workload = sketch::ParseWorkload(
      absl::StrCat("x: f32[", elements, "] = placeholder\ny: f32[", elements,
                   "] = compute (i: ", elements, ") { x[i] * ", factor,
                   " }\nreturn y\n"));
  TW_CHECK_OK(workload);
  return *std::move(workload);
}

measure::WorkerBackend FakeWorker() { return Backend("fake", true); }
measure::WorkerBackend FakeGpuWorker() { return Backend("fake_gpu", false); }

}  // namespace tilewright::fake
