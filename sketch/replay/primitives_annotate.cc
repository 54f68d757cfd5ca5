// annotate, tensorize, set_layout, set_level: how loops run and where and how
// buffers lie.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "base/string_view.h"
#include "sketch/replay/replayer.h"
#include "sketch/tree/thread_loops.h"
#include "tilegraph/ir/intrinsics.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/row_swizzle.h"

namespace tilewright::sketch {
namespace {

// The loops from `outermost` inwards, if they are a perfect nest around one
// block: what may become a tile. The first `reducing` of them may carry its
// reduction.
absl::StatusOr<std::vector<Loop*>> TileLoops(Loop& outermost, size_t reducing,
                                             Block** block) {
  std::vector<Loop*> loops = {&outermost};
  while (true) {
    Loop& loop = *loops.back();
    if (loop.body.size() != 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a tile holds one block, ", BlocksBelow(loop.body).size(),
          " stand inside loop ", loop.name));
    }
    if (loop.kind == LoopKind::kTask)
      return absl::InvalidArgumentError("a task loop cannot be part of a tile");
    if (IsOnThreads(loop)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "loop ", loop.name, " is bound to threads: no part of a tile"));
    }
    Node& inner = *loop.body[0];
    if (inner.block) {
      *block = &*inner.block;
      break;
    }
    loops.push_back(&*inner.loop);
  }
  for (size_t i = reducing; i < loops.size(); ++i) {
    if (CarriesReduction(*loops[i], **block)) {
      return absl::InvalidArgumentError(
          absl::StrCat("loop ", loops[i]->name, " carries a reduction of ",
                       (*block)->name, "; reorder it outside the tile"));
    }
  }
  return loops;
}

// Whether the block computes what the intrinsic does, `outermost` running over
// the terms of one group.
absl::Status CheckDot(const DotIntrinsic& dot, const Loop& outermost,
                      const Block& block) {
  const auto term = block.combiner && block.body.size() == 1
                        ? MatchDotTerm(*block.combiner, block.body[0])
                        : std::nullopt;
  if (!term || term->intrinsic != &dot) {
    return absl::InvalidArgumentError(
        absl::StrCat(block.name, " does not sum products as ",
                     std::string(dot.name), " does"));
  }
  if (!CarriesReduction(outermost, block) || outermost.extent != dot.group) {
    return absl::InvalidArgumentError(absl::StrCat(
        "loop ", outermost.name, " does not run over the ", dot.group,
        " terms that ", std::string(dot.name), " sums"));
  }
  return absl::OkStatus();
}

// What only lowering can do: "unroll=N", "prefetch=N", "stages=N", "buffers=N".
struct Hint {
  absl::string_view prefix;
  int least, most;  // that make any sense
  int LoopHints::*value;
};
constexpr Hint kHints[] = {{"unroll=", 1, 64, &LoopHints::unroll},
                           {"prefetch=", 0, 1024, &LoopHints::prefetch},
                           {"stages=", 1, 2, &LoopHints::stages},
                           {"buffers=", 1, 4, &LoopHints::buffers}};

const Hint* FindHint(absl::string_view text) {
  for (const Hint& hint : kHints) {
    if (absl::StartsWith(text, hint.prefix)) return &hint;
  }
  return nullptr;
}

absl::Status SetHint(const Hint& hint, absl::string_view text, Loop& loop) {
  absl::ConsumePrefix(&text, hint.prefix);
  int value = 0;
  if (!absl::SimpleAtoi(text, &value) || value < hint.least ||
      value > hint.most) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", text, "' is no number from ", hint.least, " to ", hint.most));
  }
  if (loop.kind == LoopKind::kTile) {
    return absl::InvalidArgumentError(
        absl::StrCat("loop ", loop.name, " is part of a tile"));
  }
  loop.hints.*hint.value = value;
  return absl::OkStatus();
}

// "stream=yes" or "stream=no": of the output that the block stores.
absl::StatusOr<Results> AnnotateStream(Replayer& replayer,
                                       const Arguments& args) {
  TW_ASSIGN_OR_RETURN(Path path, replayer.FindBlockOf(args.operands[0]));
  if (args.text != "stream=yes" && args.text != "stream=no") {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown annotation '", args.text, "': stream=yes or no"));
  }
  for (const int id : path.back().node().block->dst) {
    Buffer& buffer = replayer.tree().buffers[id];
    if (buffer.level != MemLevel::kGlobal) {
      return absl::InvalidArgumentError(absl::StrCat(
          buffer.name, " does not leave the group: only outputs are streamed"));
    }
    buffer.streamed = args.text == "stream=yes";
  }
  return Results{};
}

// "swizzle=4,8,1": of the copy in scratch that the block makes.
absl::StatusOr<Results> AnnotateSwizzle(Replayer& replayer,
                                        const Arguments& args) {
  TW_ASSIGN_OR_RETURN(Path path, replayer.FindBlockOf(args.operands[0]));
  absl::string_view text = args.text;
  absl::ConsumePrefix(&text, "swizzle=");
  TW_ASSIGN_OR_RETURN(const RowSwizzle swizzle, RowSwizzle::Parse(ToStd(text)));
  const Block& block = *path.back().node().block;
  Buffer& buffer = replayer.tree().buffers[block.dst[0]];
  const std::vector<int64_t>& before = buffer.layout.pad_before();
  if (block.dst.size() != 1 || buffer.level != MemLevel::kScratch ||
      std::any_of(before.begin(), before.end(),
                  [](int64_t pad) { return pad > 0; })) {
    return absl::InvalidArgumentError(absl::StrCat(
        buffer.name, " lies in no rows of scratch that could be swizzled"));
  }
  TW_RETURN_IF_ERROR(swizzle.Fits(buffer.layout.shape()));
  buffer.swizzle = swizzle;
  return Results{};
}

}  // namespace

absl::StatusOr<Results> ApplyAnnotate(Replayer& replayer,
                                      const Arguments& args) {
  const absl::string_view text = args.text;
  if (absl::StartsWith(text, "stream=")) return AnnotateStream(replayer, args);
  if (absl::StartsWith(text, "swizzle="))
    return AnnotateSwizzle(replayer, args);
  TW_ASSIGN_OR_RETURN(Path path, replayer.FindLoopOf(args.operands[0]));
  Loop& loop = *path.back().node().loop;
  if (loop.kind == LoopKind::kTask)
    return absl::InvalidArgumentError("task loops cannot be annotated");
  if (const Hint* hint = FindHint(text)) {
    TW_RETURN_IF_ERROR(SetHint(*hint, text, loop));
    return Results{};
  }
  if (args.text == "tile") {
    Block* block = nullptr;
    TW_ASSIGN_OR_RETURN(std::vector<Loop*> loops, TileLoops(loop, 0, &block));
    for (Loop* l : loops) l->kind = LoopKind::kTile;
    return Results{};
  }
  if (args.text != "serial" && args.text != "unroll") {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown annotation '", args.text,
                     "': serial, unroll, tile, unroll=N, "
                     "prefetch=N, stages=N, buffers=N, or of a block "
                     "swizzle=C,S,R, "
                     "stream=yes or no"));
  }
  if (path.size() > 1 &&
      path[path.size() - 2].node().loop->kind == LoopKind::kTile) {
    return absl::InvalidArgumentError(
        absl::StrCat("loop ", loop.name, " stands inside a tile"));
  }
  loop.kind = args.text == "serial" ? LoopKind::kSerial : LoopKind::kUnroll;
  return Results{};
}

absl::StatusOr<Results> ApplyTensorize(Replayer& replayer,
                                       const Arguments& args) {
  TW_ASSIGN_OR_RETURN(std::string name, replayer.BlockName(args.operands[0]));
  TW_ASSIGN_OR_RETURN(Path path, replayer.FindLoopOf(args.operands[1]));
  const DotIntrinsic* dot = FindDotIntrinsic(args.text);
  if (dot == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no intrinsic '", args.text, "'"));
  }
  Block* block = nullptr;
  Loop& outermost = *path.back().node().loop;
  TW_ASSIGN_OR_RETURN(std::vector<Loop*> loops,
                      TileLoops(outermost, 1, &block));
  if (block->name != name)
    return absl::InvalidArgumentError(
        absl::StrCat("the loop is not around ", name));
  TW_RETURN_IF_ERROR(CheckDot(*dot, outermost, *block));
  for (Loop* l : loops) l->kind = LoopKind::kTile;
  block->intrinsic = args.text;
  return Results{};
}

namespace {

// A layout, or "order" and the dimensions of what is held, outermost first.
absl::StatusOr<Layout> ParseLayout(absl::string_view text,
                                   const std::vector<int64_t>& held) {
  if (!absl::ConsumePrefix(&text, "order ")) return Layout::Parse(ToStd(text));
  std::vector<Layout::Digit> digits;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    int dim;
    if (!absl::SimpleAtoi(part, &dim) || dim < 0 ||
        dim >= static_cast<int>(held.size()))
      return absl::InvalidArgumentError(
          absl::StrCat("'", part, "' is no dimension of what is held"));
    digits.push_back({dim, 1, held[dim]});
  }
  const std::vector<int64_t> none(held.size(), 0);
  return Layout::Create(held, none, none, std::move(digits),
                        Layout::Fill::kUndefined);
}

}  // namespace

absl::StatusOr<Results> ApplySetLayout(Replayer& replayer,
                                       const Arguments& args) {
  size_t space = args.text.find(' ');
  if (space == std::string::npos)
    return absl::InvalidArgumentError("expects 'tensor layout'");
  std::string name = args.text.substr(0, space);
  for (Buffer& buffer : replayer.tree().buffers) {
    if (buffer.name != name) continue;
    bool is_constant = buffer.level == MemLevel::kGlobal &&
                       replayer.workload().graph.tensor(buffer.tensor).kind ==
                           TensorKind::kConstant;
    if (buffer.level == MemLevel::kGlobal && !is_constant) {
      return absl::InvalidArgumentError(
          absl::StrCat("the layout of ", name,
                       " is the workload's: it crosses the group's boundary"));
    }
    TW_ASSIGN_OR_RETURN(
        Layout layout,
        ParseLayout(absl::string_view(args.text).substr(space + 1),
                    buffer.layout.shape()));
    if (layout.shape() != buffer.layout.shape()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the layout is not of the extents that ", name, " holds"));
    }
    buffer.layout = std::move(layout);
    return Results{};
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no tensor or local buffer '", name, "'"));
}

absl::StatusOr<Results> ApplySetLevel(Replayer& replayer,
                                      const Arguments& args) {
  TW_ASSIGN_OR_RETURN(Path path, replayer.FindBlockOf(args.operands[0]));
  const Block& block = *path.back().node().block;
  if (args.text != "registers" && args.text != "scratch") {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown level '", args.text, "': registers or scratch"));
  }
  for (int id : block.dst) {
    Buffer& buffer = replayer.tree().buffers[id];
    if (buffer.level == MemLevel::kGlobal) {
      return absl::InvalidArgumentError(absl::StrCat(
          buffer.name,
          " leaves the group: it is kept in memory; use cache_write"));
    }
    buffer.level =
        args.text == "registers" ? MemLevel::kRegisters : MemLevel::kScratch;
  }
  return Results{};
}

}  // namespace tilewright::sketch
