#include "bench/measuring/workload_main.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/string_view.h"
#include "measure/worker/cpu/cpu_worker.h"
#include "measure/worker/run_worker.h"

namespace tilewright::bench {

int RunOnFiles(
    int argc, char** argv, std::string_view program, std::string_view usage,
    const OptionParser& options,
    const std::function<absl::Status(const std::vector<std::string>&)>& run) {
  measure::RunWorkerIfAsked(argc, argv, {cpu::CpuWorker()});
  const std::string whole_usage =
      absl::StrCat(ToAbsl(program), " ", ToAbsl(usage), " FILE...");
  return RunOnArguments(ToAbsl(program), whole_usage, options,
                        std::vector<std::string>(argv + 1, argv + argc), run);
}

}  // namespace tilewright::bench
