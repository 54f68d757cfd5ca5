// tilewright devices
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/spec/host_spec.h"
#include "backends/spec/load_spec.h"
#include "base/status_macros.h"
#include "tools/commands/commands.h"
#include "tools/commands/usage.h"
#include "tools/page/json.h"

namespace tilewright::tools {

absl::Status DevicesCommand(const CommandLine& line) {
  if (!line.positional().empty()) return Usage("'devices' takes no arguments");
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, HostSpec());
  const auto cores = spec.unit().cores();
  const double peak = CorePeak(spec, "f32", PeakRate::VECTOR) * 1e-9;
  if (line.Has("json")) {
    Json json;
    json.Open('[')
        .Open('{')
        .Key("name")
        .Text("cpu")
        .Key("target")
        .Text(spec.target())
        .Key("cores")
        .Int(cores);
    json.Key("f32_gflops_per_core").Number(peak).Key("levels").Open('[');
    for (const MemoryLevel& level : spec.levels()) {
      json.Open('{')
          .Key("name")
          .Text(level.name())
          .Key("capacity_bytes")
          .Int(level.capacity_bytes())
          .Key("instances")
          .Int(level.instances())
          .Close('}');
    }
    json.Close(']').Close('}').Close(']');
    std::printf("%s\n", json.text().c_str());
    return absl::OkStatus();
  }
  std::printf(
      "cpu   %s, %lld cores, %.0f GFLOP/s (f32) a core by its feature class\n",
      spec.target().c_str(), static_cast<long long>(cores), peak);
  for (const MemoryLevel& level : spec.levels()) {
    const std::string capacity =
        level.capacity_bytes() == 0
            ? "unlimited"
            : absl::StrCat(level.capacity_bytes(), " bytes");
    std::printf("      %-10s %18s x %lld\n", level.name().c_str(),
                capacity.c_str(), static_cast<long long>(level.instances()));
  }
  return absl::OkStatus();
}

}  // namespace tilewright::tools
