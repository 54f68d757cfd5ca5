#include "tools/block_report.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tilewright::tools {
namespace {

bool IsForCpu(const Program& program) {
  return absl::StartsWith(program.target(), "cpu");
}

int32_t ThreadsOf(const KernelInfo& kernel) {
  return std::max(1, kernel.threads());
}

}  // namespace

std::string BlocksText(const KernelInfo& kernel) {
  return absl::StrCat(kernel.num_tasks(),
                      kernel.num_tasks() == 1 ? " block of " : " blocks of ",
                      ThreadsOf(kernel),
                      ThreadsOf(kernel) == 1 ? " thread, " : " threads, ",
                      kernel.scratch_bytes(), " bytes shared");
}

std::string BlocksText(const Program& program) {
  std::string out;
  if (IsForCpu(program)) return out;
  for (const KernelInfo& kernel : program.kernels())
    absl::StrAppend(&out, kernel.name(), " (", kernel.label(),
                    "): ", BlocksText(kernel), "\n");
  return out;
}

void AppendBlocks(const Program& program, Json& json) {
  json.Open('[');
  if (!IsForCpu(program)) {
    for (const KernelInfo& kernel : program.kernels()) {
      json.Open('{').Key("kernel").Text(kernel.name());
      json.Key("computes").Text(kernel.label());
      json.Key("blocks").Int(kernel.num_tasks());
      json.Key("threads").Int(ThreadsOf(kernel));
      json.Key("shared_bytes").Int(kernel.scratch_bytes()).Close('}');
    }
  }
  json.Close(']');
}

}  // namespace tilewright::tools
