// A search for all kernels of a model, from the first candidate to the winners.
#ifndef TILEWRIGHT_TOOLS_TUNE_TUNE_MODEL_H_
#define TILEWRIGHT_TOOLS_TUNE_TUNE_MODEL_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "base/cancellation.h"
#include "compiler/compile.h"
#include "frontends/onnx/import_model.h"
#include "measure/parallel/measurer.h"
#include "measure/record/store.h"
#include "tools/tune/tune_options.h"
#include "tools/tune/tuned_device.h"

namespace tilewright::tools {

// All must outlive the call.
struct TuneJob {
  const ImportedModel& model;
  const backends::Codegen& codegen;
  const CompileOptions& options;  // by the rules: without schedules
  measure::Store& store;
  const Cancellation& cancellation;
  std::string title;       // of the model, for people
  std::string store_name;  // likewise
  std::string trace;       // a file; empty: none
  bool json = false;
  TunedDevice device = TunedCpu();  // of codegen's target
  // What measures the candidates of the search, with operands found in that
  // way; asked once. Empty: processes of this machine, on `device`. The best
  // ones are compared there in any case.
  std::function<absl::StatusOr<measure::Measurer*>(measure::Method::Cache)>
      measurer = nullptr;
};

// Searches, compares the winners, ranks them in the model, and tells of it on
// stderr; what stdout shall say in the end. Whatever ends it early, the store
// has all that was measured: Ctrl-C is no error. FailedPrecondition: no
// candidate of any kernel works, and why; otherwise errors of compiling, of
// measuring and of the store.
absl::StatusOr<std::string> TuneModel(const TuneJob& job,
                                      const TuneOptions& options);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_TUNE_TUNE_MODEL_H_
