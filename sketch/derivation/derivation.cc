#include "sketch/derivation/derivation.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/tree/tree_edit.h"
#include "tilegraph/decision/space.h"

namespace tilewright::sketch {
namespace {

// The number of tasks a core of TVM's InitParallel.
constexpr int64_t kTasksPerCoreWanted = 16;
// Fewer leave cores without work.
constexpr int64_t kLeastTasksPerCore = 4;

// The reasons of refusals, as one code: nobody else asked for the sketch.
absl::Status Refusal(const absl::Status& status) {
  return absl::InvalidArgumentError(status.message());
}

// How many of the outermost parts become tasks: at least as many as give every
// core a few; by rule as TVM's InitParallel.
int64_t DecideParallel(Decider& decider, const std::string& name,
                       const std::vector<Factors>& factors,
                       const DeviceSpec& spec) {
  const int64_t cores = std::max<int64_t>(1, spec.unit().cores());
  const auto axes = static_cast<int64_t>(factors.size());
  const auto axes_for = [&](int64_t wanted) {
    int64_t tasks = 1, count = 0;
    while (count < axes && tasks < wanted) tasks *= factors[count++][0];
    return tasks > 1 ? count : 0;
  };
  const int64_t least = cores == 1 ? 0 : axes_for(kLeastTasksPerCore * cores);
  return decider.DecideNumber(
      absl::StrCat(name, ".parallel"), Space::Integers(least, axes),
      [&] { return std::max(least, axes_for(kTasksPerCoreWanted * cores)); });
}

// The loops that are around all of the paths.
size_t CommonLoops(const std::vector<Path>& paths) {
  size_t depth = paths[0].size() - 1;
  for (const Path& path : paths)
    depth = std::min(depth, CommonDepth(paths[0], path));
  return std::min(depth, paths[0].size() - 1);
}

}  // namespace

absl::StatusOr<Derivation> Derivation::Create(const SketchState& state,
                                              const DerivationStyle& style,
                                              Decider& decider) {
  TW_ASSIGN_OR_RETURN(GrowingTrace trace,
                      GrowingTrace::Create(state.workload()));
  return Derivation(state, style, decider, std::move(trace));
}

absl::Status Derivation::Replay() {
  const absl::Status& status = trace_.status();
  return status.ok() ? status : Refusal(status);
}

std::string Derivation::Block(TensorId id) const {
  return state_.workload().graph.tensor(id).name;
}

std::string Derivation::StoringBlock(TensorId id) {
  const std::string name = Block(id);
  for (const Buffer& buffer : tree().buffers) {
    if (buffer.name != name) continue;
    const Path writer = FindWriter(tree(), buffer.id);
    if (!writer.empty()) return writer.back().node().block->name;
  }
  return name;
}

std::string Derivation::NameOf(const std::string& block) {
  std::string name = block;
  for (char& c : name) {
    if (c == '=' || c == '#' || absl::ascii_isspace(c)) c = '_';
  }
  return name;
}

Handle Derivation::HandleOf(int var) const {
  const std::vector<HandleValue>& handles = trace_.replayer().handles();
  for (size_t i = handles.size(); i-- > 0;) {
    if (handles[i].kind == HandleValue::Kind::kLoop && handles[i].var == var)
      return static_cast<Handle>(i);
  }
  return -1;
}

absl::StatusOr<AxisLoops> Derivation::LoopsOf(const std::string& block) {
  TW_RETURN_IF_ERROR(Replay());
  AxisLoops loops;
  const auto known = blocks_.find(block);
  loops.block = known != blocks_.end() ? known->second
                                       : blocks_[block] = writer().Block(block);
  const Path path = FindBlock(tree(), block);
  if (path.empty())
    return absl::InvalidArgumentError(absl::StrCat("there is no ", block));
  const sketch::Block& found = *path.back().node().block;
  for (const Axis& axis : found.axes)
    loops.spatial.push_back(writer().Loop(loops.block, axis.name));
  for (const Axis& axis : found.reduce_axes)
    loops.reduce.push_back(writer().Loop(loops.block, axis.name));
  TW_RETURN_IF_ERROR(Replay());
  const auto extents = [&](const std::vector<Handle>& handles) {
    std::vector<int64_t> extents;
    for (const Handle handle : handles) {
      const Path loop =
          FindLoop(tree(), trace_.replayer().handles()[handle].var);
      extents.push_back(loop.back().node().loop->extent);
    }
    return extents;
  };
  loops.spatial_extents = extents(loops.spatial);
  loops.reduce_extents = extents(loops.reduce);
  return loops;
}

std::vector<Handle> Derivation::ReduceLoops(const std::string& block) {
  std::vector<Handle> loops;
  for (const Axis& axis :
       FindBlock(tree(), block).back().node().block->reduce_axes)
    loops.push_back(writer().Loop(blocks_.at(block), axis.name));
  return loops;
}

bool Derivation::Leaves(const std::string& block) {
  const sketch::Block& found = *FindBlock(tree(), block).back().node().block;
  return tree().buffers[found.dst[0]].level == MemLevel::kGlobal;
}

absl::Status Derivation::Place(const std::string& block, bool anywhere) {
  TW_RETURN_IF_ERROR(LoopsOf(block).status());
  const sketch::Block& placed = *FindBlock(tree(), block).back().node().block;
  std::vector<Path> readers;
  for (const sketch::Block* reader : AllBlocks(tree())) {
    if (reader == &placed) continue;
    const std::vector<int> loaded = LoadedBuffers(*reader);
    if (std::any_of(loaded.begin(), loaded.end(),
                    [&](int buffer) { return WritesTo(placed, buffer); }))
      readers.push_back(FindBlock(tree(), reader->name));
  }
  if (readers.empty() || Leaves(block)) return absl::OkStatus();
  const auto most = static_cast<int64_t>(CommonLoops(readers));
  const auto least = static_cast<int64_t>(tasks_);
  if (most < least) {
    return absl::InvalidArgumentError(
        "place: not all its readers stand inside the tasks");
  }
  const int64_t depth =
      anywhere ? decider_.DecideNumber(absl::StrCat(NameOf(block), ".at"),
                                       Space::Integers(least, most),
                                       [&] { return least; })
               : least;
  if (depth == 0) return absl::OkStatus();
  const Handle loop = HandleOf(readers[0][depth - 1].node().loop->var);
  writer().ComputeAt(blocks_.at(block), loop);
  placed_.emplace_back(block, loop);
  return Replay();
}

absl::StatusOr<LoopParts> Derivation::Cut(const std::string& block,
                                          const std::vector<Factors>& factors) {
  TW_ASSIGN_OR_RETURN(AxisLoops loops, LoopsOf(block));
  const size_t axes = loops.spatial.size();
  // Outputs of several shapes have no tasks in common.
  const bool alone = state_.workload().graph.outputs().size() == 1;
  if (!alone || axes == 0 || !Leaves(block))
    return Split(loops.spatial, factors);

  const int64_t parallel =
      DecideParallel(decider_, NameOf(block), factors, state_.spec());
  if (parallel == 0) return Split(loops.spatial, factors);

  std::vector<Factors> tiles, inner;
  for (size_t i = 0; i < axes; ++i) {
    const int64_t tasks =
        static_cast<int64_t>(i) < parallel ? factors[i][0] : 1;
    const int64_t extent = loops.spatial_extents[i];
    int64_t rest = extent;
    if (tasks > 1) {
      rest = 1;
      for (size_t p = 1; p < factors[i].size(); ++p) rest *= factors[i][p];
    }
    tiles.push_back({tasks, rest});
    inner.push_back(factors[i]);
    if (tasks > 1) inner.back().erase(inner.back().begin());
  }
  TW_RETURN_IF_ERROR(MakeTasks(block, std::move(tiles)));
  TW_ASSIGN_OR_RETURN(loops, LoopsOf(block));
  LoopParts parts = Split(loops.spatial, inner);
  for (size_t i = 0; i < axes; ++i) {
    if (parts[i].size() < factors[i].size())
      parts[i].insert(parts[i].begin(), Handle{-1});
  }
  return parts;
}

absl::Status Derivation::MakeTasks(const std::string& block,
                                   std::vector<Factors> tiles) {
  if (tasks_ > 0) {
    return absl::InvalidArgumentError(
        "tasks: several outputs have none in common");
  }
  tasks_ = tiles.size();
  task_ = writer().GroupTile({blocks_.at(block)}, std::move(tiles)).back();
  return Replay();
}

LoopParts Derivation::Split(const std::vector<Handle>& loops,
                            const std::vector<Factors>& factors) {
  LoopParts parts;
  for (size_t i = 0; i < loops.size(); ++i) {
    parts.push_back(factors[i].size() == 1
                        ? std::vector<Handle>{loops[i]}
                        : writer().Split(loops[i], factors[i]));
  }
  return parts;
}

void Derivation::Reorder(const std::vector<Handle>& order) {
  std::vector<Handle> loops;
  for (const Handle loop : order) {
    if (loop >= 0) loops.push_back(loop);
  }
  if (loops.size() > 1) writer().Reorder(std::move(loops));
}

absl::StatusOr<Schedule> Derivation::Finish() && {
  TW_RETURN_IF_ERROR(Replay());
  absl::StatusOr<Schedule> schedule = std::move(trace_).Finish();
  return schedule.ok() ? std::move(schedule) : Refusal(schedule.status());
}

}  // namespace tilewright::sketch
