// run --check: one run of a compiled model, every tensor that its kernels leave
// in memory judged against the model as it was imported (measure/judge_run.h).
#ifndef TILEWRIGHT_TOOLS_CHECK_RUN_H_
#define TILEWRIGHT_TOOLS_CHECK_RUN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "measure/judge_run.h"
#include "runtime/session.h"
#include "tilegraph/host_tensor.h"
#include "tools/json.h"
#include "tools/model_source.h"

namespace tilewright::tools {

// Runs `session`, of source's model, once more on `inputs`, and compares its
// outputs with those of the first run too, bit for bit. REQUIRES: source has
// what was imported and compiled.
absl::StatusOr<measure::RunJudgement> CheckRun(
    const Source& source, Session& session,
    const std::vector<HostTensor>& inputs,
    const std::vector<HostTensor>& outputs);

// In one line for people.
std::string CheckText(const measure::RunJudgement& judgement);
// As one object.
void AppendCheck(const measure::RunJudgement& judgement, Json& json);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_CHECK_RUN_H_
