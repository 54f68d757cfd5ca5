// Device specs by name or from a file.
#ifndef TILEWRIGHT_BACKENDS_SPEC_LOAD_SPEC_H_
#define TILEWRIGHT_BACKENDS_SPEC_LOAD_SPEC_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright {

// A committed spec by name ("cpu_x86_64_v4", "a100", "unit") or else by target
// ("cuda:sm_80"; the first by name of several), else the text-format DeviceSpec
// in the file `name_or_path`. The result is validated. NotFound says which
// names exist; InvalidArgument gives file, line and what is wrong.
absl::StatusOr<DeviceSpec> LoadSpec(std::string_view name_or_path);

// A DeviceSpec in text format; `origin` starts the messages.
absl::StatusOr<DeviceSpec> ParseSpec(std::string_view text,
                                     std::string_view origin);

// InvalidArgument unless there is a name, a target, a memory level first,
// register level last, levels with kind, scope and distinct names, at least one
// core, sorted distinct features, no negative number, a source for every number
// that is set, and for a CPU a cost model.
absl::Status ValidateSpec(const DeviceSpec& spec);

// Text format, as people write it: for --spec-out and for messages.
std::string SpecText(const DeviceSpec& spec);

// The names of the committed specs, sorted.
std::vector<std::string> BuiltinSpecNames();

// Level `name`, or null.
const MemoryLevel* FindLevel(const DeviceSpec& spec, std::string_view name);

// REQUIRES: it has one, as specs of CPUs do.
const CostModel& CostModelOf(const DeviceSpec& spec);

// Peak operations per second of one core for operands of `dtype` ("f32"), 0 if
// the spec names none.
double CorePeak(const DeviceSpec& spec, std::string_view dtype,
                PeakRate::Unit unit);

}  // namespace tilewright

#endif  // TILEWRIGHT_BACKENDS_SPEC_LOAD_SPEC_H_
