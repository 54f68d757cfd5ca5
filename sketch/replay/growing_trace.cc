#include "sketch/replay/growing_trace.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/tree/tree_edit.h"

namespace tilewright::sketch {

absl::StatusOr<GrowingTrace> GrowingTrace::Create(const Workload& workload) {
  TW_ASSIGN_OR_RETURN(Replayer replayer, Replayer::Create(workload));
  return GrowingTrace(std::move(replayer));
}

const absl::Status& GrowingTrace::status() {
  const std::vector<Instruction>& all = writer_.written().instructions;
  for (; status_.ok() && replayed_ < all.size(); ++replayed_) {
    const Instruction& instruction = all[replayed_];
    status_ = replayer_.Apply(instruction);
    if (status_.ok()) continue;
    status_ = absl::Status(
        status_.code(), absl::StrCat(std::string(Name(instruction.primitive)),
                                     ": ", status_.message()));
  }
  return status_;
}

bool GrowingTrace::Try(const std::function<void(ScheduleWriter&)>& write) {
  if (!status().ok()) return false;
  const ScheduleWriter writer = writer_;
  Replayer before = replayer_.Clone();
  const size_t replayed = replayed_;
  write(writer_);
  if (status().ok()) return true;
  writer_ = writer;
  replayer_ = std::move(before);
  replayed_ = replayed;
  status_ = absl::OkStatus();
  return false;
}

std::vector<LoopAround> GrowingTrace::LoopsOf(const std::string& name) {
  std::vector<LoopAround> loops;
  const Path path = FindBlock(replayer_.tree(), name);
  if (path.empty()) return loops;
  const Block& block = *path.back().node().block;
  for (const Loop* loop : LoopsAround(path)) {
    loops.push_back({loop->name, loop->extent, loop->kind == LoopKind::kTask,
                     CarriesReduction(*loop, block)});
  }
  return loops;
}

const Block* GrowingTrace::FindBlockNamed(const std::string& name) {
  const Path path = FindBlock(replayer_.tree(), name);
  return path.empty() ? nullptr : &*path.back().node().block;
}

absl::StatusOr<Schedule> GrowingTrace::Finish() && {
  TW_RETURN_IF_ERROR(status());
  TW_RETURN_IF_ERROR(replayer_.Finish());
  return std::move(writer_).Finish();
}

}  // namespace tilewright::sketch
