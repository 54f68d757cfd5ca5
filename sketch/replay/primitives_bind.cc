// bind: loops that the threads of a block share.
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/replay/replayer.h"

namespace tilewright::sketch {
namespace {

absl::StatusOr<LoopKind> ParseKind(const std::string& text) {
  if (text == "thread") return LoopKind::kThread;
  if (text == "warp") return LoopKind::kWarp;
  if (text == "lane") return LoopKind::kLane;
  if (text == "vthread") return LoopKind::kVthread;
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown binding '", text, "': thread, warp, lane or vthread"));
}

}  // namespace

// Whether the loops of a nest go together is for Replayer::Finish to see, once
// all of them are bound.
absl::StatusOr<Results> ApplyBind(Replayer& replayer, const Arguments& args) {
  TW_ASSIGN_OR_RETURN(const LoopKind kind, ParseKind(args.text));
  TW_ASSIGN_OR_RETURN(Path path, replayer.FindLoopOf(args.operands[0]));
  Loop& loop = *path.back().node().loop;
  if (loop.kind == LoopKind::kTask || loop.kind == LoopKind::kTile) {
    return absl::InvalidArgumentError(absl::StrCat(
        "loop ", loop.name, " is ",
        loop.kind == LoopKind::kTask ? "a task loop" : "part of a tile"));
  }
  loop.kind = kind;
  return Results{};
}

}  // namespace tilewright::sketch
