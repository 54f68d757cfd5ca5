// tilewright tune MODEL.onnx --records=DB
#include <signal.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/codegen.h"
#include "backends/device.h"
#include "backends/spec/device_spec.pb.h"
#include "base/cancellation.h"
#include "base/file.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "compiler/compile.h"
#include "frontends/onnx/import_model.h"
#include "measure/record/record.pb.h"
#include "measure/record/store.h"
#include "tools/backends.h"
#include "tools/commands/commands.h"
#include "tools/commands/daemon_run.h"
#include "tools/commands/fusion_measuring.h"
#include "tools/commands/model_source.h"
#include "tools/commands/tune_flags.h"
#include "tools/commands/usage.h"
#include "tools/page/fill_page.h"
#include "tools/tune/tune_model.h"
#include "tools/tune/tune_page.h"
#include "tools/tune/tuned_device.h"

namespace tilewright::tools {
namespace {

// Set by Ctrl-C: running work ends, and all that was measured is in the store.
Cancellation g_interrupted;
void OnInterrupt(int) { g_interrupted.Cancel(); }

class InterruptHandler {
 public:
  InterruptHandler() {
    struct sigaction action = {};
    action.sa_handler = OnInterrupt;
    action.sa_flags = SA_RESETHAND;  // a second one ends the process
    sigaction(SIGINT, &action, &before_);
  }
  ~InterruptHandler() { sigaction(SIGINT, &before_, nullptr); }
  InterruptHandler(const InterruptHandler&) = delete;
  InterruptHandler& operator=(const InterruptHandler&) = delete;

 private:
  struct sigaction before_ = {};
};

// The trace that a report is made from stands beside it, unless the user names
// another file. Empty: there is none.
std::string TraceOf(const CommandLine& line) {
  if (line.Has("trace")) return line.Get("trace");
  return line.Has("report") ? absl::StrCat(line.Get("report"), ".jsonl") : "";
}

absl::StatusOr<TunedDevice> DeviceOf(const CommandLine& line,
                                     const DeviceSpec& spec) {
  if (line.Get("target") != kPresentGpu) return TunedCpu();
  TW_ASSIGN_OR_RETURN(std::shared_ptr<backends::Device> device,
                      DeviceFor(spec.target(), {.num_threads = 1}));
  return TunedGpu(std::move(device), spec);
}

absl::Status WriteReport(const CommandLine& line, const std::string& trace) {
  if (!line.Has("report")) return absl::OkStatus();
  return WriteTunePage(trace, line.Get("report"));
}

}  // namespace

absl::Status TuneCommand(const CommandLine& line) {
  TW_ASSIGN_OR_RETURN(const std::string path, OnlyModel(line));
  if (!line.Has("records"))
    return Usage("'tune' needs --records=DB, where it keeps what it measures");
  if (!absl::EndsWith(path, ".onnx"))
    return Usage(absl::StrCat(path, ": 'tune' takes an .onnx file"));
  TW_ASSIGN_OR_RETURN(CompileOptions options, CompileOptionsFrom(line));
  TW_ASSIGN_OR_RETURN(const ImportOptions import, ImportOptionsFrom(line));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<backends::Codegen> codegen,
                      CodegenFrom(line));
  const absl::StatusOr<ImportedModel> imported = ImportModel(path, import);
  if (!imported.ok()) {
    return absl::Status(imported.status().code(),
                        absl::StrCat(path, ": ", imported.status().message()));
  }
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<measure::Store> store,
                      measure::Store::Open(UserPath(line.Get("records"))));
  TW_ASSIGN_OR_RETURN(const DeviceSpec machine, SpecFrom(line));
  // Fused as the records say, as 'compile' does; schedules are the rules'.
  TW_ASSIGN_OR_RETURN(
      const std::unique_ptr<FusionMeasuring> fusions,
      FusionMeasuring::From(line, machine, codegen->spec(), options));
  TW_ASSIGN_OR_RETURN(TunedDevice device, DeviceOf(line, codegen->spec()));
  const std::string trace = TraceOf(line);
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<DaemonRun> daemons,
                      DaemonRun::From(line, TitleOf(path), codegen->spec()));
  TuneJob job = {*imported,
                 *codegen,
                 options,
                 *store,
                 g_interrupted,
                 TitleOf(path),
                 line.Get("records"),
                 trace,
                 line.Has("json"),
                 std::move(device)};
  if (daemons != nullptr) {
    job.measurer = [&](measure::Method::Cache cache) {
      return daemons->Open(cache);
    };
  }
  const InterruptHandler handler;
  const absl::StatusOr<std::string> summary =
      TuneModel(job, TuneOptionsFrom(line));
  const absl::Status ended =
      daemons == nullptr ? absl::OkStatus()
                         : daemons->End(*store, g_interrupted.cancelled());
  // A run that came to an end early has its page, too.
  const absl::Status reported = WriteReport(line, trace);
  TW_RETURN_IF_ERROR(summary.status());
  std::fputs(summary->c_str(), stdout);
  TW_RETURN_IF_ERROR(ended);
  return reported;
}

}  // namespace tilewright::tools
