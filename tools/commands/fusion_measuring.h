// Kernels' times while a model is compiled, for --records=DB: the records, with
// --measure workers of this binary too, and lines about the progress on stderr.
#ifndef TILEWRIGHT_TOOLS_COMMANDS_FUSION_MEASURING_H_
#define TILEWRIGHT_TOOLS_COMMANDS_FUSION_MEASURING_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "compiler/compile.h"
#include "compiler/records/kernel_times.h"
#include "measure/parallel/measurer.h"
#include "measure/parallel/worker_pool.h"
#include "measure/record/store.h"
#include "tools/commands/command_line.h"

namespace tilewright::tools {

class FusionMeasuring {
 public:
  // Null without --records, or where groups are not fused tile by tile. `spec`
  // is the machine that the records are of, with --measure this one; `planned`
  // the one that kernels are made for, with the threads of --threads. The store
  // is written with --measure alone, and must be there without. Errors of the
  // store. REQUIRES: the binary's main begins with RunWorkerIfAsked for the
  // CPU.
  static absl::StatusOr<std::unique_ptr<FusionMeasuring>> From(
      const CommandLine& line, const DeviceSpec& spec,
      const DeviceSpec& planned, CompileOptions& options);

  // The last line, and what was wrong with the records. After compiling.
  void Finish();

 private:
  FusionMeasuring(std::unique_ptr<measure::Store> store, const DeviceSpec& spec,
                  std::string maker, const CommandLine& line);
  // Without --measure nobody measures or verifies.
  KernelTimesOptions TimesOptions(std::string maker);
  // One that executes so often, by the processes of all of them: what one had
  // built and verified is that for the others, too.
  absl::StatusOr<measure::Measurer*> Measurer(int max_repeats);
  void Report(bool last);

  const std::unique_ptr<measure::Store> store_;
  const int workers_;
  std::unique_ptr<measure::WorkerPool> pool_;  // once it is needed
  std::vector<std::unique_ptr<measure::Measurer>> measurers_;
  const double most_seconds_;
  const bool measures_;
  KernelTimes times_;
  const bool quiet_;
  int64_t start_ns_, reported_ns_;
};

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_COMMANDS_FUSION_MEASURING_H_
