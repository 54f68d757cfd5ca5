#include "sketch/replay/replay.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/replay/replayer.h"

namespace tilewright::sketch {
namespace {

absl::Status WithPlace(const absl::Status& status, size_t index,
                       const Instruction& instruction) {
  return absl::Status(
      status.code(),
      absl::StrCat("#", index, " ", std::string(Name(instruction.primitive)),
                   ": ", status.message()));
}

}  // namespace

absl::StatusOr<BlockTree> Replay(const Workload& workload,
                                 const Schedule& schedule) {
  TW_ASSIGN_OR_RETURN(Replayer replayer, Replayer::Create(workload));
  for (size_t i = 0; i < schedule.instructions.size(); ++i) {
    absl::Status status = replayer.Apply(schedule.instructions[i]);
    if (!status.ok()) return WithPlace(status, i, schedule.instructions[i]);
  }
  absl::Status finished = replayer.Finish();
  if (!finished.ok())
    return absl::Status(
        finished.code(),
        absl::StrCat("at the end of the schedule: ", finished.message()));
  return std::move(replayer.tree());
}

}  // namespace tilewright::sketch
