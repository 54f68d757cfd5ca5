// Plans of the ten subgraphs on all specs, as docs/results/gpu_plans.md has
// them: print_gpu_plans [--why]
#include <cstdio>
#include <cstring>
#include <string>

#include "backends/spec/load_spec.h"
#include "base/check.h"
#include "tilegraph/tiling/align/gpu_kernels.h"
#include "tilegraph/tiling/align/gpu_subgraphs.h"

int main(int argc, char** argv) {
  using namespace tilewright;
  for (const GpuSubgraph& one : GpuSubgraphs()) {
    for (const char* name : {"v100", "a100", "h100", "mi210", "ipu_mk2"}) {
      const DeviceSpec spec = *LoadSpec(name);
      const auto planned = PlanGpuKernels(one.graph, one.plan, spec, {});
      TW_CHECK(planned.ok()) << planned.status();
      std::printf("== %s on %s\n", one.name.c_str(), name);
      if (argc > 1 && std::strcmp(argv[1], "--why") == 0)
        std::fputs(WhyText(one.graph, *planned, -1).c_str(), stdout);
    }
  }
}
