// run --check: one run of a compiled model, every tensor that its kernels leave
// in memory verified against the model as it was imported
// (measure/verify/verify_run.h).
#ifndef TILEWRIGHT_TOOLS_CHECK_RUN_H_
#define TILEWRIGHT_TOOLS_CHECK_RUN_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frontends/onnx/import_model.h"
#include "measure/inputs/input_sets.h"
#include "measure/verify/verify_run.h"
#include "runtime/session.h"
#include "tilegraph/expr/host_tensor.h"
#include "tools/commands/model_source.h"
#include "tools/page/json.h"

namespace tilewright::tools {

// The ranges from which inputs that are not given are drawn, by name: masks and
// indices.
std::map<std::string, measure::IntegerRange> DrawnFrom(
    const ImportedModel& model);

// Runs `session`, of source's model, once more on `inputs`, and compares its
// outputs with those of the first run too, bit for bit. REQUIRES: source has
// what was imported and compiled.
absl::StatusOr<measure::RunVerdict> CheckRun(
    const Source& source, Session& session,
    const std::vector<HostTensor>& inputs,
    const std::vector<HostTensor>& outputs);

// In one line for people; with a cap on a level, a second one that says what it
// leaves to verify.
std::string CheckText(const measure::RunVerdict& verdict, bool capped);
// As one object.
void AppendCheck(const measure::RunVerdict& verdict, Json& json);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_CHECK_RUN_H_
