// Rules for GPUs without tiles of several levels: skip, unroll-constants,
// cross-thread.
#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "base/status_macros.h"
#include "sketch/derivation/write_gpu_rules.h"
#include "sketch/derivation/write_rules.h"
#include "sketch/tree/thread_loops.h"
#include "sketch/tree/tree_edit.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/decision/table.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::sketch {
namespace {

// Elements of a thread that are computed together at most.
constexpr int64_t kMostTogether = 64;

void Append(std::vector<Handle>& loops, const std::vector<Handle>& more) {
  loops.insert(loops.end(), more.begin(), more.end());
}

std::vector<int> AllAxes(size_t axes) {
  std::vector<int> all(axes);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

const Block& BlockNamed(Derivation& derivation, const std::string& name) {
  return *FindBlock(derivation.tree(), name).back().node().block;
}

// One of the powers of two from `least` to `most`; the nearest to `wanted` from
// below is preferred.
int64_t DecidePower(Decider& decider, const std::string& name, int64_t least,
                    int64_t most, int64_t wanted, Bits bits) {
  std::vector<std::string> names;
  int64_t preferred = 0;
  for (int64_t power = least; power <= most; power *= 2) {
    if (power <= wanted) preferred = static_cast<int64_t>(names.size());
    names.push_back(absl::StrCat(power));
  }
  return least << decider.DecideNumber(
             name, Space::OneOf(names), [&] { return preferred; }, bits);
}

// The block stands where its readers need it. One that leaves the group is the
// grid: a block of threads has a tile of it, all of the last axis where what it
// reads was reduced inside the block.
absl::StatusOr<AxisLoops> EnterGrid(Derivation& derivation, TensorId id,
                                    const std::string& block) {
  constexpr int64_t kColumns = 64, kRows = 4;
  TW_RETURN_IF_ERROR(derivation.Place(block, /*anywhere=*/false));
  TW_ASSIGN_OR_RETURN(const AxisLoops loops, derivation.LoopsOf(block));
  const size_t axes = loops.spatial.size();
  if (!derivation.Leaves(block) || axes == 0) return loops;
  const TensorGraph& graph = derivation.state().workload().graph;
  const bool whole_rows = derivation.state().computes().size() > 1;
  std::vector<Factors> tiles;
  for (size_t d = 0; d < axes; ++d) {
    SplitSpace split;
    split.extent = loops.spatial_extents[d];
    split.tails = false;
    const Space space = Space::Split(split);
    const int64_t wanted = d + 1 < axes ? (d + 2 < axes ? 1 : kRows)
                           : whole_rows ? split.extent
                                        : kColumns;
    tiles.push_back(derivation.decider().Decide(
        absl::StrCat(Derivation::NameOf(block), ".block.",
                     graph.tensor(id).compute.axes[d].name),
        space, [&] {
          return space.Nearest({1, std::min(wanted, split.extent)});
        }));
  }
  TW_RETURN_IF_ERROR(derivation.MakeTasks(block, std::move(tiles)));
  return derivation.LoopsOf(block);
}

// Threads first, then what reduces, then the elements of a thread: together, or
// if these are many its vectors alone.
void Arrange(Derivation& derivation, const NestHandles& nest,
             const ThreadDivision& division,
             const std::vector<Handle>& reduce) {
  int64_t together = 1;
  for (size_t d = 0; d < division.axes.size(); ++d)
    together *= CeilDiv(division.extents[d], division.threads[d]);
  const size_t axes = division.axes.size();
  const size_t outer = together > kMostTogether ? axes : 0;
  std::vector<Handle> order = nest.threads;
  order.insert(order.end(), nest.elements.begin(),
               nest.elements.begin() + static_cast<std::ptrdiff_t>(outer));
  Append(order, reduce);
  order.insert(order.end(),
               nest.elements.begin() + static_cast<std::ptrdiff_t>(outer),
               nest.elements.end());
  derivation.Reorder(order);
  if (outer < nest.elements.size())
    derivation.writer().Annotate(nest.elements[outer], "tile");
}

// Sums that leave the group are made in registers and copied by their thread;
// what stays in the group is for its readers.
absl::Status WriteNest(Derivation& derivation, TensorId id,
                       const std::string& block) {
  TW_ASSIGN_OR_RETURN(AxisLoops loops, EnterGrid(derivation, id, block));
  if (loops.spatial.empty()) return derivation.Replay();
  const ThreadDivision division = DecideDivision(
      derivation, block, loops.spatial_extents, AllAxes(loops.spatial.size()));
  ScheduleWriter& writer = derivation.writer();
  const auto divide = [&](Handle handle, const std::vector<Handle>& reduce) {
    Arrange(derivation, CutNest(writer, handle, division, NestKind::kThreads),
            division, reduce);
  };
  if (!derivation.Leaves(block)) {
    writer.SetLevel(loops.block, "registers");
  } else if (!loops.reduce.empty()) {
    std::vector<Handle> order = loops.reduce;
    Append(order, loops.spatial);
    derivation.Reorder(order);
    divide(writer.CacheWrite(loops.block, "registers"), {});
    TW_ASSIGN_OR_RETURN(loops, derivation.LoopsOf(block));
  }
  divide(loops.block, loops.reduce);
  return derivation.Replay();
}

// What stores `id`, if that is another block than the one that computes it.
absl::Status WriteStore(Derivation& derivation, TensorId id) {
  const std::string stored = derivation.StoringBlock(id);
  if (stored == derivation.Block(id)) return absl::OkStatus();
  if (derivation.state().IsOutput(id)) return WriteNest(derivation, id, stored);
  derivation.writer().ComputeInline(derivation.writer().Block(stored));
  return derivation.Replay();
}

}  // namespace

ThreadDivision DecideDivision(Derivation& derivation, const std::string& block,
                              const std::vector<int64_t>& extents,
                              const std::vector<int>& which, int64_t lanes) {
  constexpr int64_t kPreferred = 256, kMostVector = 4;
  const Block& divided = BlockNamed(derivation, block);
  const std::string name = Derivation::NameOf(block);
  ThreadDivision division;
  std::vector<int64_t> chosen;
  int64_t elements = lanes;
  for (const int axis : which) {
    chosen.push_back(extents[axis]);
    elements *= extents[axis];
  }
  const int64_t element_bytes =
      SizeBytes(derivation.tree().buffers[divided.dst[0]].dtype);
  const int64_t threads =
      DecidePower(derivation.decider(), name + ".threads", kWarpLanes,
                  kMostThreads, std::min(elements, kPreferred), Bits::kSame);
  const int64_t vector =
      DecidePower(derivation.decider(), name + ".vector", 1, kMostVector,
                  lanes > 1 ? 1 : 16 / element_bytes, Bits::kSame);
  division = DivideThreads(chosen, threads / lanes, vector);
  for (const int axis : which) division.axes.push_back(divided.axes[axis].name);
  division.extents = std::move(chosen);
  return division;
}

absl::Status WriteThreads(Derivation& derivation, TensorId id,
                          std::string_view) {
  TW_RETURN_IF_ERROR(WriteStore(derivation, id));
  return WriteNest(derivation, id, derivation.Block(id));
}

absl::Status WriteThreadConstants(Derivation& derivation, TensorId id,
                                  std::string_view) {
  TW_RETURN_IF_ERROR(WriteStore(derivation, id));
  const std::string block = derivation.Block(id);
  TW_ASSIGN_OR_RETURN(const AxisLoops loops, EnterGrid(derivation, id, block));
  const std::set<int>& constant = derivation.state().traits(id).constant_axes;
  std::vector<int> divided;
  std::vector<Handle> unrolled;
  for (int axis = 0; axis < static_cast<int>(loops.spatial.size()); ++axis) {
    if (constant.count(axis) == 0)
      divided.push_back(axis);
    else
      unrolled.push_back(loops.spatial[axis]);
  }
  Append(unrolled, loops.reduce);
  const ThreadDivision division =
      DecideDivision(derivation, block, loops.spatial_extents, divided);
  const NestHandles nest =
      CutNest(derivation.writer(), loops.block, division, NestKind::kThreads);
  std::vector<Handle> order = nest.threads;
  Append(order, nest.elements);
  Append(order, unrolled);
  derivation.Reorder(order);
  for (const Handle loop : unrolled)
    derivation.writer().Annotate(loop, "unroll");
  return derivation.Replay();
}

absl::Status WriteCrossThread(Derivation& derivation, TensorId id,
                              std::string_view) {
  TW_RETURN_IF_ERROR(WriteStore(derivation, id));
  const std::string block = derivation.Block(id);
  TW_ASSIGN_OR_RETURN(const AxisLoops loops, EnterGrid(derivation, id, block));
  const Block& sums = BlockNamed(derivation, block);
  const size_t longest = std::max_element(loops.reduce_extents.begin(),
                                          loops.reduce_extents.end()) -
                         loops.reduce_extents.begin();
  const std::string lane_axis =
      absl::StrCat(sums.reduce_axes[longest].name, ".1");
  const int64_t terms = loops.reduce_extents[longest];
  const int64_t lanes =
      DecidePower(derivation.decider(), Derivation::NameOf(block) + ".lanes", 2,
                  kWarpLanes, terms, Bits::kMayChange);
  const ThreadDivision division =
      DecideDivision(derivation, block, loops.spatial_extents,
                     AllAxes(loops.spatial.size()), lanes);

  // What reduces stands outermost: the sums of all lanes are a nest of their
  // own.
  ScheduleWriter& writer = derivation.writer();
  const std::vector<Handle> parts =
      writer.Split(loops.reduce[longest], {CeilDiv(terms, lanes), lanes});
  std::vector<Handle> steps = {parts[0]}, order = parts;
  for (size_t r = 0; r < loops.reduce.size(); ++r) {
    if (r == longest) continue;
    steps.push_back(loops.reduce[r]);
    order.push_back(loops.reduce[r]);
  }
  Append(order, loops.spatial);
  derivation.Reorder(order);
  const Handle partial = writer.RFactor(loops.block, parts[1]);
  TW_RETURN_IF_ERROR(derivation.Replay());

  // Both nests: threads, a lane each, then the steps and the elements.
  const auto write = [&](Handle handle, const std::vector<Handle>& inside) {
    const NestHandles nest =
        CutNest(writer, handle, division, NestKind::kBesideLanes, lanes);
    const Handle lane = writer.Loop(handle, lane_axis);
    writer.Bind(lane, "lane");
    std::vector<Handle> loops = nest.threads;
    loops.push_back(lane);
    Append(loops, inside);
    Append(loops, nest.elements);
    derivation.Reorder(loops);
    if (!nest.elements.empty()) writer.Annotate(nest.elements.front(), "tile");
  };
  write(partial, steps);
  writer.SetLevel(partial, "registers");
  write(loops.block, {});
  if (!derivation.Leaves(block)) writer.SetLevel(loops.block, "registers");
  return derivation.Replay();
}

}  // namespace tilewright::sketch
