#include "bench/measuring/named_workload.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "backends/spec/host_spec.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "base/string_view.h"
#include "sketch/fused/fused_schedule.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/trace/fused_wishes.h"

namespace tilewright::bench {
namespace {

absl::StatusOr<sketch::Generator> GeneratorOf(const sketch::Workload& workload,
                                              const std::string& text) {
  if (workload.stages.empty()) return sketch::Generators(workload).front();
  std::string wished;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, "#wish "))
      absl::StrAppend(&wished, line, "\n");
  }
  TW_ASSIGN_OR_RETURN(sketch::FusedWishes wishes,
                      sketch::FusedWishes::Parse(wished));
  return sketch::FusedGenerator(std::move(wishes));
}

}  // namespace

absl::StatusOr<NamedWorkload> ReadWorkload(const std::string& path,
                                           const std::string& cpu_class) {
  constexpr int64_t kMostBytes = int64_t{1} << 20;
  TW_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostBytes));
  TW_ASSIGN_OR_RETURN(sketch::Workload workload, sketch::ParseWorkload(text));
  TW_ASSIGN_OR_RETURN(DeviceSpec spec,
                      cpu_class.empty()
                          ? HostSpec()
                          : CpuSpec(cpu_class, QueryHostStructure()));
  TW_ASSIGN_OR_RETURN(sketch::Generator generator, GeneratorOf(workload, text));
  TW_ASSIGN_OR_RETURN(sketch::Schedule schedule,
                      sketch::GeneratePreferred(generator, workload, spec));
  const std::string file = path.substr(path.rfind('/') + 1);
  return NamedWorkload{file.substr(0, file.rfind('.')), std::move(workload),
                       std::move(spec), std::move(generator),
                       std::move(schedule)};
}

}  // namespace tilewright::bench
