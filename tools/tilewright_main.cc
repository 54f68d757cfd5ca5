// tilewright: compiles, runs, measures and explains ONNX models.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/allocation.h"
#include "compiler/kernels/version.h"
#include "google/protobuf/stubs/logging.h"
#include "measure/worker/cpu/cpu_worker.h"
#include "measure/worker/cuda/cuda_worker.h"
#include "measure/worker/run_worker.h"
#include "tools/commands/command_line.h"
#include "tools/commands/commands.h"
#include "tools/commands/usage.h"

namespace tilewright::tools {
namespace {

absl::Status Dispatch(const CommandLine& line) {
  if (line.command() == "compile") return CompileCommand(line);
  if (line.command() == "run") return RunCommand(line);
  if (line.command() == "benchmark") return BenchmarkCommand(line);
  if (line.command() == "inspect") return InspectCommand(line);
  if (line.command() == "conformance") return ConformanceCommand(line);
  if (line.command() == "devices") return DevicesCommand(line);
  if (line.command() == "records") return RecordsCommand(line);
  if (line.command() == "tune") return TuneCommand(line);
  if (line.command() == "version") std::printf("tilewright %s\n", kVersion);
  if (line.command() == "help")
    std::fputs(tilewright::tools::Usage().c_str(), stdout);
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  google::protobuf::SetLogHandler(
      nullptr);  // what it would print is in the Status, in one line
  const absl::StatusOr<CommandLine> line =
      CommandLine::Parse(std::vector<std::string>(argv + 1, argv + argc));
  const absl::Status status =
      line.ok()
          ? CatchExceptions(absl::StrCat("running '", line->command(), "'"),
                            [&] { return Dispatch(*line); })
          : Usage(line.status().message());
  if (status.ok()) return 0;
  std::fprintf(stderr, "tilewright: %s\n",
               std::string(status.message()).c_str());
  return IsUsage(status) ? 2 : 1;
}

}  // namespace
}  // namespace tilewright::tools

// Nothing is thrown out of it, whatever a command or its arguments ask for.
int main(int argc, char** argv) {
  try {
    tilewright::measure::RunWorkerIfAsked(
        argc, argv,
        {tilewright::cpu::CpuWorker(), tilewright::cuda::CudaWorker()});
    return tilewright::tools::Main(argc, argv);
  } catch (...) {
    std::fputs("tilewright: out of memory; give the process more memory\n",
               stderr);
    return 1;
  }
}
