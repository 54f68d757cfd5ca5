// Tiles of several levels in threads: cache-write and tile-fused for GPUs.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/derivation/tile_sizes.h"
#include "sketch/derivation/write_gpu_rules.h"
#include "sketch/derivation/write_rules.h"
#include "sketch/simt/reused_operands.h"
#include "sketch/tree/thread_loops.h"
#include "sketch/tree/tree_edit.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/decision/table.h"

namespace tilewright::sketch {
namespace {

// The spatial levels: block, virtual thread, thread, and a thread's elements.
enum Level : size_t { kBlock, kVirtual, kThread, kOuter, kInner, kLevels };
constexpr int kReduceParts = 3;
constexpr int64_t kMostElements = 256;  // of a thread, in registers

void Append(std::vector<Handle>& loops, const std::vector<Handle>& more) {
  loops.insert(loops.end(), more.begin(), more.end());
}

int64_t ProductOf(const std::vector<Factors>& factors, Level level) {
  int64_t product = 1;
  for (const Factors& f : factors) product *= f[level];
  return product;
}

Factors DecideParts(Derivation& derivation, const std::string& name,
                    int64_t extent, Factors wanted, Bits bits) {
  SplitSpace split;
  split.extent = extent;
  split.parts = static_cast<int>(wanted.size());
  split.innermost_cap = kMostInnermost;
  split.tails = false;
  const Space space = Space::Split(split);
  return derivation.decider().Decide(
      name, space, [&] { return space.Nearest(wanted); }, bits);
}

// 16 x 16 threads of 4 x 4 elements along the last two axes, if they are long
// enough, and steps of 8.
TileSizes DecideThreadTiles(Derivation& derivation,
                            const TileProblem& problem) {
  const Compute& compute =
      derivation.state().workload().graph.tensor(problem.id).compute;
  const std::string prefix =
      absl::StrCat(Derivation::NameOf(problem.block), ".tile.");
  TileSizes sizes;
  sizes.order = AxesInOrder(derivation.state().workload(), problem);
  int row = -1;
  for (size_t i = 0; i + 1 < sizes.order.size(); ++i) {
    if (problem.spatial[sizes.order[i]] > 1) row = sizes.order[i];
  }
  for (size_t d = 0; d < problem.spatial.size(); ++d) {
    const int axis = static_cast<int>(d);
    const bool divided = axis == row || axis == sizes.order.back();
    sizes.spatial.push_back(DecideParts(
        derivation, prefix + compute.axes[d].name, problem.spatial[d],
        divided ? Factors{1, 1, 16, 1, 4} : Factors{1, 1, 1, 1, 1},
        Bits::kSame));
  }
  for (size_t r = 0; r < problem.reduce.size(); ++r) {
    Factors wanted(kReduceParts, 1);
    wanted[1] = 8;
    sizes.reduce.push_back(
        DecideParts(derivation, prefix + compute.reduce_axes[r].name,
                    problem.reduce[r], wanted, Bits::kMayChange));
  }
  return sizes;
}

absl::Status CheckSizes(const TileSizes& sizes) {
  const int64_t threads = ProductOf(sizes.spatial, kThread);
  const int64_t elements = ProductOf(sizes.spatial, kVirtual) *
                           ProductOf(sizes.spatial, kOuter) *
                           ProductOf(sizes.spatial, kInner);
  if (threads > kMostThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat(threads, " threads, more than ", kMostThreads));
  }
  if (elements > kMostElements) {
    return absl::InvalidArgumentError(absl::StrCat(
        elements, " elements of a thread, more than ", kMostElements));
  }
  return absl::OkStatus();
}

void BindThreads(Derivation& derivation, const std::vector<Handle>& loops) {
  for (const Handle loop : loops) derivation.writer().Bind(loop, "thread");
}

// What stores the elements that a thread has summed, in its own order. Returns
// the loop that the block which computes them belongs into; -1: none.
absl::StatusOr<Handle> WriteTarget(Derivation& derivation,
                                   const std::string& target,
                                   const TileSizes& sizes) {
  std::vector<Factors> tasks, inside;
  for (const Factors& f : sizes.spatial) {
    const int64_t rest = f[kVirtual] * f[kThread] * f[kOuter] * f[kInner];
    tasks.push_back({f[kBlock], rest});
    inside.push_back(
        {f[kBlock], f[kVirtual], f[kThread], f[kOuter] * f[kInner]});
  }
  const bool leaves = derivation.Leaves(target) && !tasks.empty();
  if (leaves) TW_RETURN_IF_ERROR(derivation.MakeTasks(target, tasks));
  TW_ASSIGN_OR_RETURN(const AxisLoops loops, derivation.LoopsOf(target));
  if (leaves) {
    for (Factors& f : inside) f[0] = 1;
  }
  const LoopParts parts = derivation.Split(loops.spatial, inside);
  const std::vector<Handle> around = LevelsOf(parts, sizes.order, 0, 0),
                            threads = LevelsOf(parts, sizes.order, 2, 2),
                            elements = LevelsOf(parts, sizes.order, 3, 3);
  std::vector<Handle> order = around;
  Append(order, threads);
  Append(order, LevelsOf(parts, sizes.order, 1, 1));
  Append(order, elements);
  derivation.Reorder(order);
  BindThreads(derivation, threads);
  if (!elements.empty()) derivation.writer().Annotate(elements.front(), "tile");
  if (!derivation.Leaves(target))
    derivation.writer().SetLevel(loops.block, "registers");
  TW_RETURN_IF_ERROR(derivation.Replay());
  return around.empty() ? derivation.task() : around.back();
}

// Serial loops, innermost first, are written out while that makes at most
// "T.unroll" steps.
void Unroll(Derivation& derivation, const std::string& block,
            const std::vector<std::pair<Handle, int64_t>>& loops) {
  // TVM's candidates for GPUs.
  static const auto* const kSteps =
      new std::vector<std::string>{"0", "16", "64", "512", "1024"};
  const int64_t option = derivation.decider().DecideNumber(
      Derivation::NameOf(block) + ".unroll", Space::OneOf(*kSteps),
      [] { return 2; });
  int64_t limit = 0, steps = 1;
  if (!absl::SimpleAtoi((*kSteps)[option], &limit)) return;
  for (const auto& [loop, extent] : loops) {
    steps *= extent;
    if (steps > limit) return;
    if (extent > 1) derivation.writer().Annotate(loop, "unroll");
  }
}

// What threads of a block use again comes into scratch at every outer step;
// each thread moves vectors of it.
absl::Status CopyOperands(Derivation& derivation, const std::string& block,
                          Handle handle, Handle step) {
  const Path path = FindBlock(derivation.tree(), block);
  for (const std::string& operand :
       ReusedOperands(derivation.tree(), *path.back().node().block)) {
    Handle copy = -1;
    const bool copied = derivation.Try([&](ScheduleWriter& writer) {
      copy = writer.CacheRead(handle, step, operand, "scratch");
    });
    if (!copied) continue;  // no dense part of it is read
    const std::string name = derivation.BlockOf(copy);
    TW_ASSIGN_OR_RETURN(const AxisLoops loops, derivation.LoopsOf(name));
    std::vector<int> axes;
    for (size_t d = 0; d < loops.spatial.size(); ++d)
      axes.push_back(static_cast<int>(d));
    const ThreadDivision division =
        DecideDivision(derivation, name, loops.spatial_extents, axes);
    const NestHandles nest =
        CutNest(derivation.writer(), loops.block, division, NestKind::kThreads);
    std::vector<Handle> order = nest.threads;
    Append(order, nest.elements);
    ArrangeNest(derivation.writer(), order, nest);
    TW_RETURN_IF_ERROR(derivation.Replay());
  }
  return absl::OkStatus();
}

// S R0 (copies) T V R1 O R2 I: sums of a thread stay in its registers.
absl::Status WriteSums(Derivation& derivation, const std::string& block,
                       Handle around, const TileSizes& sizes) {
  TW_ASSIGN_OR_RETURN(const AxisLoops whole, derivation.LoopsOf(block));
  if (around >= 0) derivation.writer().ComputeAt(whole.block, around);
  TW_ASSIGN_OR_RETURN(const AxisLoops loops, derivation.LoopsOf(block));
  std::vector<Factors> inside;
  for (size_t d = 0; d < loops.spatial.size(); ++d) {
    const Factors& f = sizes.spatial[d];
    inside.push_back(
        FitFactors(loops.spatial_extents[d],
                   {f[kVirtual], f[kThread], f[kOuter], f[kInner]}));
  }
  const LoopParts spatial = derivation.Split(loops.spatial, inside);
  const LoopParts reduce = derivation.Split(loops.reduce, sizes.reduce);
  const auto level = [&](Level l) {
    return LevelsOf(spatial, sizes.order, l - 1, l - 1);
  };
  const std::vector<Handle> threads = level(kThread), inner = level(kInner);
  std::vector<Handle> order = LevelOf(reduce, 0);
  const Handle step = order.empty() ? Handle{-1} : order.back();
  Append(order, threads);
  Append(order, level(kVirtual));
  Append(order, LevelOf(reduce, 1));
  Append(order, level(kOuter));
  Append(order, LevelOf(reduce, 2));
  Append(order, inner);
  derivation.Reorder(order);
  BindThreads(derivation, threads);
  std::vector<std::pair<Handle, int64_t>> serial;
  for (size_t r = reduce.size(); r-- > 0;)
    serial.emplace_back(reduce[r][2], sizes.reduce[r][2]);
  for (size_t i = sizes.order.size(); i-- > 0;) {
    const int axis = sizes.order[i];
    serial.emplace_back(spatial[axis][2], inside[axis][2]);
  }
  Unroll(derivation, block, serial);
  if (!inner.empty()) derivation.writer().Annotate(inner.front(), "tile");
  derivation.writer().SetLevel(loops.block, "registers");
  TW_RETURN_IF_ERROR(derivation.Replay());
  return step < 0 ? absl::OkStatus()
                  : CopyOperands(derivation, block, loops.block, step);
}

// The block whose elements are the sums, one by one: the reader that is fused,
// or else a copy.
absl::StatusOr<std::string> MakeTarget(Derivation& derivation, TensorId id) {
  const std::string block = derivation.Block(id);
  if (const auto reader = derivation.state().FusedReader(id))
    return derivation.Block(*reader);
  if (derivation.StoringBlock(id) == block) {
    // All of it is accumulated, and then copied.
    TW_ASSIGN_OR_RETURN(const AxisLoops loops, derivation.LoopsOf(block));
    std::vector<Handle> order = loops.reduce;
    Append(order, loops.spatial);
    derivation.Reorder(order);
    derivation.writer().CacheWrite(loops.block, "scratch");
    TW_RETURN_IF_ERROR(derivation.Replay());
  }
  return derivation.StoringBlock(id);
}

}  // namespace

absl::Status WriteThreadTiles(Derivation& derivation, TensorId id,
                              std::string_view) {
  TW_RETURN_IF_ERROR(Settle(derivation, id));
  const std::string block = derivation.Block(id);
  TW_ASSIGN_OR_RETURN(const std::string target, MakeTarget(derivation, id));
  TW_RETURN_IF_ERROR(derivation.Place(target, /*anywhere=*/false));
  TW_ASSIGN_OR_RETURN(const AxisLoops outer, derivation.LoopsOf(target));
  TW_ASSIGN_OR_RETURN(const AxisLoops whole, derivation.LoopsOf(block));
  const TileSizes sizes = DecideThreadTiles(
      derivation, {id, block, outer.spatial_extents, whole.reduce_extents});
  TW_RETURN_IF_ERROR(CheckSizes(sizes));
  TW_ASSIGN_OR_RETURN(const Handle around,
                      WriteTarget(derivation, target, sizes));
  return WriteSums(derivation, block, around, sizes);
}

}  // namespace tilewright::sketch
