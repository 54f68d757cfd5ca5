#include "tools/plan/gpu_why.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "tilegraph/gpu/gpu_kernels.h"
#include "tools/block_report.h"
#include "tools/fallbacks.h"

namespace tilewright::tools {

std::string GpuWhyText(const CompiledModel& compiled, int only) {
  std::string out;
  const std::vector<Group>& before = compiled.register_plan.groups;
  for (size_t g = 0; g < compiled.plan.groups.size(); ++g) {
    if (only >= 0 && static_cast<int>(g) != only) continue;
    const Group& group = compiled.plan.groups[g];
    absl::StrAppend(&out, "group ", g, " ends at ",
                    compiled.graph.tensor(group.output).name, "\n");
    for (const std::string& why : group.why)
      absl::StrAppend(&out, "  ", why, "\n");
    const int kernel = compiled.kernel_of_group[g];
    if (kernel < 0) continue;
    const KernelInfo& info = compiled.program.kernels(kernel);
    absl::StrAppend(&out, "  ", info.name(), ": ", BlocksText(info),
                    ", by generator '", info.generator(), "'\n",
                    FallbackText(info));
    const auto last = std::find_if(
        before.begin(), before.end(),
        [&](const Group& one) { return one.output == group.output; });
    if (last != before.end())
      out += WhyText(compiled.graph, compiled.gpu->plan,
                     static_cast<int>(last - before.begin()));
  }
  return out;
}

}  // namespace tilewright::tools
