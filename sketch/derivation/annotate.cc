// Derivation::Annotate: how the loops of a sketch run.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "base/status_macros.h"
#include "sketch/derivation/derivation.h"
#include "sketch/derivation/tile_sizes.h"
#include "sketch/rules/shared/output_tiles.h"
#include "sketch/tree/tree_edit.h"
#include "tilegraph/decision/space.h"

namespace tilewright::sketch {
namespace {

// The values of TVM's auto_unroll_max_step on CPUs.
const std::vector<std::string>& UnrollSteps() {
  static const auto* const kSteps =
      new std::vector<std::string>{"0", "16", "64", "512"};
  return *kSteps;
}

struct OwnLoop {
  int var;
  int64_t extent;
  bool reduces;
  bool serial;
};

// The loops around nothing but the block, innermost first.
std::vector<OwnLoop> OwnLoops(const Path& path) {
  const Block& block = *path.back().node().block;
  std::vector<OwnLoop> loops;
  for (size_t i = path.size() - 1; i-- > 0;) {
    const Loop& loop = *path[i].node().loop;
    if (loop.body.size() != 1 || loop.kind == LoopKind::kTask) break;
    loops.push_back({loop.var, loop.extent, CarriesReduction(loop, block),
                     loop.kind == LoopKind::kSerial});
  }
  return loops;
}

// How many of them, from the innermost on, may become a tile of `most`
// elements; none if that had a single one.
size_t MostTileLoops(const std::vector<OwnLoop>& loops, int64_t most) {
  size_t count = 0;
  int64_t elements = 1;
  while (count < loops.size() && !loops[count].reduces && loops[count].serial &&
         elements * loops[count].extent <= most)
    elements *= loops[count++].extent;
  return elements > 1 ? count : 0;
}

}  // namespace

absl::Status Derivation::AnnotateBlock(const std::string& block) {
  const std::string name = NameOf(block);
  const int64_t lanes = Lanes(state_.workload().graph, state_.spec());
  const int64_t registers =
      std::max<int64_t>(1, state_.spec().unit().vector_registers());
  std::vector<OwnLoop> loops = OwnLoops(FindBlock(tree(), block));
  const bool whole = tiled_whole_.count(block) != 0;
  if (!whole && !loops.empty() && !loops[0].reduces && loops[0].serial &&
      loops[0].extent > kMostInnermost) {
    SplitSpace split;
    split.extent = loops[0].extent;
    split.innermost_cap = kMostInnermost;
    const Space space = Space::Split(split);
    const Factors parts =
        decider_.Decide(absl::StrCat(name, ".vectors"), space, [&] {
          return space.Nearest({1, 2 * lanes});
        });
    writer().Split(HandleOf(loops[0].var), parts);
    TW_RETURN_IF_ERROR(Replay());
    loops = OwnLoops(FindBlock(tree(), block));
  }

  const size_t most = MostTileLoops(loops, registers * lanes);
  size_t tiled = 0;
  int64_t elements = 1;
  if (most > 0) {
    tiled = most;
    if (!whole) {
      // Single elements at a time gain nothing where the loop fills a vector.
      const int64_t least =
          style_.fit_vectors && loops[0].extent >= lanes ? 1 : 0;
      tiled = static_cast<size_t>(decider_.DecideNumber(
          absl::StrCat(name, ".vectorize"),
          Space::Integers(least, static_cast<int64_t>(most)),
          [&] { return static_cast<int64_t>(most); }));
    }
    for (size_t i = 0; i < tiled; ++i) elements *= loops[i].extent;
    if (tiled > 0) writer().Annotate(HandleOf(loops[tiled - 1].var), "tile");
  }
  if (in_registers_.count(block) != 0) {
    int64_t held = 1;
    const int buffer = FindBlock(tree(), block).back().node().block->dst[0];
    for (const int64_t extent : tree().buffers[buffer].layout.shape())
      held *= extent;
    if (held == elements) writer().SetLevel(blocks_.at(block), "registers");
  }

  const auto may_unroll = [&](size_t i) {
    return i < loops.size() && loops[i].serial;
  };
  int64_t steps = CeilDiv(elements, lanes);
  if (may_unroll(tiled)) {
    const int64_t option =
        decider_.DecideNumber(absl::StrCat(name, ".unroll"),
                              Space::OneOf(UnrollSteps()), [] { return 0; });
    int64_t limit = 0;
    if (!absl::SimpleAtoi(UnrollSteps()[option], &limit)) limit = 0;
    for (size_t i = tiled; may_unroll(i); ++i) {
      steps *= loops[i].extent;
      if (steps > limit) break;
      if (loops[i].extent > 1)
        writer().Annotate(HandleOf(loops[i].var), "unroll");
    }
  }
  return Replay();
}

absl::Status Derivation::Roll(const std::string& block, Handle loop) {
  Instruction rolling;
  rolling.primitive = Primitive::kRolling;
  rolling.operands = {blocks_.at(block), loop};
  Replayer trial = trace_.replayer().Clone();
  if (!trial.Apply(rolling).ok() || !trial.Finish().ok())
    return absl::OkStatus();
  if (decider_.DecideWhether(absl::StrCat(NameOf(block), ".rolling"),
                             [] { return false; }))
    writer().Rolling(blocks_.at(block), loop);
  return Replay();
}

absl::Status Derivation::Annotate() {
  TW_RETURN_IF_ERROR(Replay());
  if (style_.threads) return absl::OkStatus();
  for (const auto& [block, loop] : placed_) {
    if (style_.roll) TW_RETURN_IF_ERROR(Roll(block, loop));
  }
  std::vector<std::string> names;
  for (const sketch::Block* block : AllBlocks(tree()))
    names.push_back(block->name);
  for (const std::string& name : names) TW_RETURN_IF_ERROR(AnnotateBlock(name));
  return absl::OkStatus();
}

}  // namespace tilewright::sketch
