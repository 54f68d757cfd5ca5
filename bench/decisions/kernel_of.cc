#include "bench/decisions/kernel_of.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "backends/lowering/tile/lower.h"
#include "sketch/replay/replay.h"

namespace tilewright::bench {
namespace {

absl::Status At(absl::string_view stage, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(stage, ": ", status.message()));
}

}  // namespace

absl::StatusOr<Fingerprint> KernelOf(const sketch::Workload& workload,
                                     const sketch::Schedule& schedule,
                                     const backends::Codegen& codegen) {
  const auto tree = sketch::Replay(workload, schedule);
  if (!tree.ok()) return At("replay", tree.status());
  const auto tile = lowering::Lower(*tree, "kernel");
  if (!tile.ok()) return At("lower", tile.status());
  const auto scalar = codegen.Legalize(*tile);
  if (!scalar.ok()) return At("legalize", scalar.status());
  return Fingerprint::Of(scalar->ToString());
}

}  // namespace tilewright::bench
