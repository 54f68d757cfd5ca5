#include "tools/fallbacks.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace tilewright::tools {
namespace {

// Two names at most: "conv1 to relu3 (5 computes)".
std::string ShortLabel(const std::string& computes) {
  const std::vector<std::string> names = absl::StrSplit(computes, ' ');
  if (names.size() <= 2) return computes;
  return absl::StrCat(names.front(), " to ", names.back(), " (", names.size(),
                      " computes)");
}

}  // namespace

std::string FallbackText(const KernelInfo& kernel) {
  if (kernel.refused().empty()) return "";
  return absl::StrCat("  fallback to schedule '", kernel.generator(),
                      "' after ", absl::StrJoin(kernel.refused(), "; "), "\n");
}

std::string FallbackText(const Program& program) {
  std::string out;
  for (const KernelInfo& kernel : program.kernels()) {
    if (kernel.refused().empty()) continue;
    absl::StrAppend(&out, "fallback ", kernel.name(), " (", kernel.label(),
                    ") to schedule '", kernel.generator(), "' after ",
                    absl::StrJoin(kernel.refused(), "; "), "\n");
  }
  absl::StrAppend(&out, UnfusedText(program));
  return out;
}

std::string UnfusedText(const Program& program) {
  std::vector<std::pair<const UnfusedGroup*, int>>
      first;                            // and how many others
  std::map<std::string, size_t> known;  // by reason
  for (const UnfusedGroup& group : program.unfused()) {
    const auto [at, added] = known.insert({group.why(), first.size()});
    if (added)
      first.push_back({&group, 0});
    else
      ++first[at->second].second;
  }
  std::string out;
  for (const auto& [group, others] : first) {
    absl::StrAppend(&out, "not fused ", ShortLabel(group->computes()),
                    others > 0 ? absl::StrCat(" and ", others, " more") : "",
                    ": ", group->why(), "\n");
  }
  return out;
}

void AppendFallbacks(const Program& program, Json& json) {
  json.Open('[');
  for (const KernelInfo& kernel : program.kernels()) {
    if (kernel.refused().empty()) continue;
    json.Open('{').Key("computes").Text(kernel.label());
    json.Key("kernel").Text(kernel.name());
    json.Key("generator").Text(kernel.generator()).Key("refused").Open('[');
    for (const std::string& why : kernel.refused()) json.Text(why);
    json.Close(']').Close('}');
  }
  for (const UnfusedGroup& apart : program.unfused()) {
    json.Open('{').Key("computes").Text(apart.computes());
    json.Key("generator").Text("apart").Key("refused").Open('[');
    json.Text(apart.why()).Close(']').Close('}');
  }
  json.Close(']');
}

}  // namespace tilewright::tools
