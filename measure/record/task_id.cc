#include "measure/record/task_id.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"

namespace tilewright::measure {
namespace {

void Add(const sketch::InstructionProto& instruction, Fingerprinter& digest) {
  const auto add_ints = [&digest](const auto& values) {
    digest.AddInt(static_cast<uint64_t>(values.size()));
    for (const int64_t value : values) {
      digest.AddInt(static_cast<uint64_t>(value));
    }
  };
  digest.AddString(instruction.primitive());
  add_ints(instruction.operands());
  digest.AddString(instruction.text());
  add_ints(instruction.results());
  digest.AddInt(static_cast<uint64_t>(instruction.factors_size()));
  for (const sketch::FactorsProto& factors : instruction.factors()) {
    add_ints(factors.factor());
  }
}

}  // namespace

std::string DeviceClass(const DeviceKey& device, const Versions& versions) {
  return absl::StrCat(device.structure_fingerprint(), ".",
                      versions.code_generation());
}

std::string TaskId(const WorkloadKey& workload,
                   const sketch::ScheduleProto& schedule,
                   std::string_view device_class, Method::Cache cache) {
  Fingerprinter digest;
  digest.AddString(workload.text());
  digest.AddString(device_class);
  digest.AddInt(static_cast<uint64_t>(schedule.decisions_size()));
  for (const sketch::DecisionProto& decision : schedule.decisions()) {
    digest.AddString(decision.name()).AddString(decision.value());
  }
  digest.AddInt(static_cast<uint64_t>(schedule.instructions_size()));
  for (const sketch::InstructionProto& instruction : schedule.instructions()) {
    Add(instruction, digest);
  }
  if (cache == Method::FRESH_CONSTANTS) digest.AddString("fresh constants");
  return digest.Finish().ToString();
}

std::string TaskIdOf(const Record& record) {
  return TaskId(record.workload(), record.schedule(),
                DeviceClass(record.device(), record.versions()),
                record.measurement().method().cache());
}

}  // namespace tilewright::measure
