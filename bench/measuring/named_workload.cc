#include "bench/measuring/named_workload.h"

#include <cstdint>
#include <utility>

#include "backends/spec/host_spec.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "sketch/default_schedule.h"

namespace tilewright::bench {

absl::StatusOr<NamedWorkload> ReadWorkload(const std::string& path) {
  constexpr int64_t kMostBytes = int64_t{1} << 20;
  TW_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostBytes));
  TW_ASSIGN_OR_RETURN(sketch::Workload workload, sketch::ParseWorkload(text));
  TW_ASSIGN_OR_RETURN(DeviceSpec spec, HostSpec());
  TW_ASSIGN_OR_RETURN(sketch::Schedule schedule,
                      sketch::DefaultSchedule(workload, spec));
  const std::string file = path.substr(path.rfind('/') + 1);
  return NamedWorkload{file.substr(0, file.rfind('.')), std::move(workload),
                       std::move(spec), std::move(schedule)};
}

}  // namespace tilewright::bench
