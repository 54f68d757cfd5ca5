// The main of a program that measures the workloads in files on this CPU.
#ifndef TILEWRIGHT_BENCH_MEASURING_WORKLOAD_MAIN_H_
#define TILEWRIGHT_BENCH_MEASURING_WORKLOAD_MAIN_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/option_parser.h"

namespace tilewright::bench {

// Serves as a worker if this process is one, and does not return then. Else
// parses the command line, whose options precede "FILE..." in `usage`, runs
// `run` on the files, and returns the exit status; wants one file at least.
int RunOnFiles(
    int argc, char** argv, std::string_view program, std::string_view usage,
    const OptionParser& options,
    const std::function<absl::Status(const std::vector<std::string>&)>& run);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_MEASURING_WORKLOAD_MAIN_H_
