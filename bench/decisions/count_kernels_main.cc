// How many different kernels the decisions about a workload reach, and why some
// of its tables are refused.
//
//   count_kernels [--target=NAME] [--draws=1000] [--seed=1] FILE...
//
// A file holds a workload in text form. Random tables of its family's generator
// are lowered to the scalar tier for the target, a device spec's name
// (cpu_x86_64_v4) or this CPU; kernels whose listings differ are different.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/spec/host_spec.h"
#include "backends/spec/load_spec.h"
#include "base/file.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "bench/decisions/kernel_count.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/trace/workload.h"

namespace tilewright::bench {
namespace {

constexpr char kUsage[] =
    "count_kernels [--target=NAME] [--draws=N] [--seed=N] FILE...";

struct Flags {
  std::string target;
  int draws = 1000;
  int64_t seed = 1;
};

absl::Status Run(const std::vector<std::string>& files, const Flags& flags) {
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, flags.target.empty()
                                                 ? HostSpec()
                                                 : LoadSpec(flags.target));
  TW_ASSIGN_OR_RETURN(const auto codegen, cpu::CreateCpuCodegen(spec));
  for (const std::string& file : files) {
    TW_ASSIGN_OR_RETURN(const std::string text,
                        ReadFile(file, int64_t{1} << 20));
    TW_ASSIGN_OR_RETURN(const sketch::Workload workload,
                        sketch::ParseWorkload(text));
    const sketch::Generator generator = sketch::Generators(workload).front();
    const KernelCount count =
        CountKernels(workload, generator, *codegen, flags.draws,
                     static_cast<uint64_t>(flags.seed));
    std::printf("%s, %s: %s", file.c_str(), generator.name.c_str(),
                ToString(count).c_str());
  }
  return absl::OkStatus();
}

int Main(const std::vector<std::string>& arguments) {
  Flags flags;
  OptionParser parser;
  parser.Text("target", &flags.target);
  parser.Number("draws", &flags.draws, 1);
  parser.Number("seed", &flags.seed, 0);
  return RunOnArguments(
      "count_kernels", kUsage, parser, arguments,
      [&](const std::vector<std::string>& files) { return Run(files, flags); });
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) {
  return tilewright::bench::Main({argv + 1, argv + argc});
}
