// Rules without tiles of several levels: inline, skip, unroll-constants,
// rfactor.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/derivation/tile_sizes.h"
#include "sketch/derivation/write_rules.h"
#include "sketch/rules/shared/output_tiles.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/decision/table.h"

namespace tilewright::sketch {
namespace {

void Append(std::vector<Handle>& loops, const std::vector<Handle>& more) {
  loops.insert(loops.end(), more.begin(), more.end());
}

// The loops of a block that has its place: outer parts, reduce loops, inner
// parts.
struct SimpleNest {
  std::vector<Handle> outer, reduce, inner;
};

absl::StatusOr<SimpleNest> CutSimply(Derivation& derivation, TensorId id,
                                     const std::string& block, bool tails) {
  TW_ASSIGN_OR_RETURN(const AxisLoops loops, derivation.LoopsOf(block));
  const TileSizes sizes = DecideSimpleTiles(
      derivation, {id, block, loops.spatial_extents, loops.reduce_extents},
      tails);
  TW_ASSIGN_OR_RETURN(const LoopParts parts,
                      derivation.Cut(block, sizes.spatial));
  SimpleNest nest;
  nest.outer = LevelsOf(parts, sizes.order, 0, 0);
  nest.reduce = derivation.ReduceLoops(block);
  nest.inner = LevelsOf(parts, sizes.order, 1, 1);
  return nest;
}

absl::Status WriteSimply(Derivation& derivation, TensorId id,
                         const std::string& block) {
  TW_RETURN_IF_ERROR(derivation.Place(block, true));
  TW_ASSIGN_OR_RETURN(const SimpleNest nest,
                      CutSimply(derivation, id, block, true));
  std::vector<Handle> order = nest.outer;
  Append(order, nest.reduce);
  Append(order, nest.inner);
  derivation.Reorder(order);
  return derivation.Replay();
}

// Writes what stores `id`, if that is another block than the one that computes
// it, so that this one can be placed.
absl::Status WriteStore(Derivation& derivation, TensorId id) {
  const std::string stored = derivation.StoringBlock(id);
  if (stored == derivation.Block(id)) return absl::OkStatus();
  if (derivation.state().IsOutput(id))
    return WriteSimply(derivation, id, stored);
  ScheduleWriter& writer = derivation.writer();
  writer.ComputeInline(writer.Block(stored));
  return derivation.Replay();
}

}  // namespace

absl::Status WriteInline(Derivation& derivation, TensorId id,
                         std::string_view) {
  ScheduleWriter& writer = derivation.writer();
  writer.ComputeInline(writer.Block(derivation.Block(id)));
  return derivation.Replay();
}

absl::Status WriteSkip(Derivation& derivation, TensorId id,
                       std::string_view variant) {
  const std::string block = derivation.Block(id);
  const bool map =
      !derivation.state().workload().graph.tensor(id).compute.combiner;
  if (map && !derivation.state().IsOutput(id) &&
      derivation.decider().DecideWhether(
          absl::StrCat(Derivation::NameOf(block), ".inline"),
          [] { return false; }))
    return WriteInline(derivation, id, variant);
  TW_RETURN_IF_ERROR(WriteStore(derivation, id));
  return WriteSimply(derivation, id, block);
}

absl::Status WriteUnrolledConstants(Derivation& derivation, TensorId id,
                                    std::string_view) {
  TW_RETURN_IF_ERROR(WriteStore(derivation, id));
  const std::string block = derivation.Block(id);
  const std::set<int>& constant = derivation.state().traits(id).constant_axes;
  TW_RETURN_IF_ERROR(derivation.Place(block, true));
  TW_ASSIGN_OR_RETURN(const AxisLoops whole, derivation.LoopsOf(block));
  // Axes of constants stay whole.
  TileProblem problem = {id, block, whole.spatial_extents, {}};
  for (const int axis : constant) {
    if (axis < static_cast<int>(problem.spatial.size()))
      problem.spatial[axis] = 1;
  }
  TileSizes sizes = DecideSimpleTiles(derivation, problem, true);
  for (const int axis : constant) {
    if (axis < static_cast<int>(problem.spatial.size()))
      sizes.spatial[axis] = {1, whole.spatial_extents[axis]};
  }
  TW_ASSIGN_OR_RETURN(const LoopParts parts,
                      derivation.Cut(block, sizes.spatial));
  const std::vector<Handle> reduce = derivation.ReduceLoops(block);
  std::vector<Handle> order = LevelsOf(parts, sizes.order, 0, 0), unrolled,
                      inner;
  for (const int axis : sizes.order) {
    (constant.count(axis) != 0 ? unrolled : inner).push_back(parts[axis][1]);
  }
  Append(unrolled, reduce);
  Append(order, unrolled);
  Append(order, inner);
  derivation.Reorder(order);
  for (const Handle loop : unrolled)
    derivation.writer().Annotate(loop, "unroll");
  return derivation.Replay();
}

absl::Status WriteRfactor(Derivation& derivation, TensorId id,
                          std::string_view variant) {
  TW_RETURN_IF_ERROR(WriteStore(derivation, id));
  const std::string block = derivation.Block(id);
  const bool outer = variant == "outer";
  TW_RETURN_IF_ERROR(derivation.Place(block, true));
  TW_ASSIGN_OR_RETURN(const AxisLoops whole, derivation.LoopsOf(block));
  TW_ASSIGN_OR_RETURN(const SimpleNest nest,
                      CutSimply(derivation, id, block, false));
  std::vector<Handle> order = nest.outer;
  Append(order, nest.reduce);
  Append(order, nest.inner);
  derivation.Reorder(order);

  ScheduleWriter& writer = derivation.writer();
  const Handle steps =
      nest.reduce.size() > 1 ? writer.Fuse(nest.reduce) : nest.reduce[0];
  SplitSpace split;
  for (const int64_t extent : whole.reduce_extents) split.extent *= extent;
  split.innermost_cap = outer ? 0 : kMostInnermost;
  split.tails = derivation.style().tails;
  const Space space = Space::Split(split);
  const int64_t lanes =
      Lanes(derivation.state().workload().graph, derivation.state().spec());
  const Factors parts = derivation.decider().Decide(
      absl::StrCat(Derivation::NameOf(block), ".rfactor"), space,
      [&] {
        return space.Nearest({1, outer ? split.extent / lanes : 2 * lanes});
      },
      Bits::kMayChange);
  const std::vector<Handle> cut = writer.Split(steps, parts);
  writer.RFactor(whole.block, cut[outer ? 0 : 1]);
  if (!outer) {
    // Loops over which a vector's values do not change stand outside.
    order = {cut[0]};
    Append(order, nest.inner);
    order.push_back(cut[1]);
    derivation.Reorder(order);
  }
  TW_ASSIGN_OR_RETURN(const AxisLoops last, derivation.LoopsOf(block));
  order = last.reduce;
  Append(order, last.spatial);
  derivation.Reorder(order);
  return derivation.Replay();
}

}  // namespace tilewright::sketch
