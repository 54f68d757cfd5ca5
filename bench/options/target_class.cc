#include "bench/options/target_class.h"

#include <stdlib.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/spec/cpu_features.h"
#include "backends/spec/host_spec.h"
#include "base/status_macros.h"

namespace tilewright::bench {
namespace {

constexpr std::string_view kPrefix = "x86-64-";

struct Limits {
  std::string_view level;
  int vector_bytes;
  const char* onednn;
  const char* openblas;
};
constexpr Limits kLimits[] = {{"v2", 16, "SSE41", "Nehalem"},
                              {"v3", 32, "AVX2", "Haswell"},
                              {"v4", 64, "AVX512_CORE", "SkylakeX"}};

const Limits* Find(std::string_view text) {
  if (text.substr(0, kPrefix.size()) == kPrefix)
    text.remove_prefix(kPrefix.size());
  for (const Limits& limits : kLimits) {
    if (limits.level == text) return &limits;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<TargetClass> ParseTargetClass(std::string_view text) {
  const Limits* const limits = Find(text);
  if (limits == nullptr)
    return absl::InvalidArgumentError("give x86-64-v2, x86-64-v3 or x86-64-v4");
  return TargetClass{std::string(kPrefix) + std::string(limits->level),
                     limits->vector_bytes};
}

absl::StatusOr<DeviceSpec> SpecOf(const TargetClass& target) {
  if (!target.limits()) return HostSpec();
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> missing,
                      MissingCpuFeatures(target.name, HostCpuFeatures()));
  if (!missing.empty()) {
    return absl::UnimplementedError(absl::StrCat("this CPU is no ", target.name,
                                                 ": it lacks ",
                                                 absl::StrJoin(missing, ", ")));
  }
  return CpuSpec(target.name, QueryHostStructure());
}

void LimitPeers(const TargetClass& target) {
  if (!target.limits()) return;
  const Limits& limits = *Find(target.name);
  setenv("ONEDNN_MAX_CPU_ISA", limits.onednn, 1);
  setenv("DNNL_MAX_CPU_ISA", limits.onednn, 1);
  setenv("OPENBLAS_CORETYPE", limits.openblas, 1);
}

}  // namespace tilewright::bench
