#include "sketch/tree/thread_loops.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sketch/tree/tree_edit.h"

namespace tilewright::sketch {
namespace {

bool IsPowerOfTwo(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

absl::Status Fault(const Loop& loop, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat("loop ", loop.name, " ", what));
}

bool IsLane(const Loop& loop) { return loop.kind == LoopKind::kLane; }

// Kinds that go together, and not too many of them.
absl::Status CheckNest(const std::vector<const Loop*>& nest) {
  int64_t lanes = 1, threads = 1;
  for (size_t i = 0; i < nest.size(); ++i) {
    const Loop& loop = *nest[i];
    if (i > 0 && nest[i - 1]->kind != loop.kind &&
        (nest[i - 1]->kind != LoopKind::kWarp || !IsLane(loop)))
      return Fault(loop,
                   absl::StrCat("cannot stand in loop ", nest[i - 1]->name,
                                ": lanes stand in warps, threads apart"));
    threads *= loop.extent;
    if (IsLane(loop)) lanes *= loop.extent;
    if (threads > kMostThreads || lanes > kWarpLanes ||
        ThreadsOf({nest.begin(), nest.begin() + i + 1}) > kMostThreads)
      return Fault(
          loop, absl::StrCat("makes more than ", kMostThreads, " threads, or ",
                             kWarpLanes, " lanes of a warp"));
  }
  return nest.back()->kind == LoopKind::kWarp
             ? Fault(*nest.back(), "holds no lanes of its warps")
             : absl::OkStatus();
}

// A reduction whose terms lanes combine: nothing but a tile between its block
// and the lanes, and no other loop that carries it.
absl::Status CheckLaneReduction(const Loop& lane, const ThreadPlace& place,
                                const Loop& innermost, const Block& block,
                                const std::vector<const Loop*>& around) {
  if (!IsLane(lane))
    return Fault(lane, absl::StrCat("carries a reduction of ", block.name,
                                    "; rfactor it first"));
  if (!IsPowerOfTwo(lane.extent) || !IsPowerOfTwo(place.stride))
    return Fault(lane, "reduces lanes that are no power of two");
  for (const Loop* loop : around) {
    if (!IsLane(*loop) && CarriesReduction(*loop, block))
      return Fault(*loop, absl::StrCat("carries a reduction of ", block.name,
                                       ", which lanes combine"));
  }
  const std::vector<NodePtr>* below = &innermost.body;
  while (below->size() == 1 && below->front()->loop &&
         below->front()->loop->kind == LoopKind::kTile)
    below = &below->front()->loop->body;
  if (below->size() != 1 || !below->front()->block)
    return Fault(lane, absl::StrCat("combines ", block.name,
                                    ", which is not alone in a tile"));
  if (block.dst.size() != 1 || block.rescaling || block.rolling ||
      block.LeavesStepsOut() || block.running >= 0 || !block.intrinsic.empty())
    return Fault(lane, absl::StrCat("cannot combine ", block.name));
  return absl::OkStatus();
}

class Checker {
 public:
  absl::Status Nodes(const std::vector<NodePtr>& nodes) {
    for (const NodePtr& node : nodes) {
      if (!node->loop) continue;
      const Loop& loop = *node->loop;
      if (IsOnThreads(loop)) {
        TW_RETURN_IF_ERROR(Nest(loop));
      } else {
        around_.push_back(&loop);
        TW_RETURN_IF_ERROR(Nodes(loop.body));
        around_.pop_back();
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Nest(const Loop& outermost) {
    const std::vector<const Loop*> nest = ThreadNest(outermost);
    TW_RETURN_IF_ERROR(CheckNest(nest));
    const std::map<int, ThreadPlace> places = ThreadPlaces(nest);
    std::vector<const Loop*> around = around_;
    around.insert(around.end(), nest.begin(), nest.end());
    return Below(nest.back()->body, nest, places, around);
  }

  absl::Status Below(const std::vector<NodePtr>& nodes,
                     const std::vector<const Loop*>& nest,
                     const std::map<int, ThreadPlace>& places,
                     std::vector<const Loop*>& around) {
    for (const NodePtr& node : nodes) {
      if (node->loop) {
        if (IsOnThreads(*node->loop))
          return Fault(*node->loop,
                       absl::StrCat("stands inside loop ", nest.back()->name,
                                    ", but not directly"));
        around.push_back(&*node->loop);
        TW_RETURN_IF_ERROR(Below(node->loop->body, nest, places, around));
        around.pop_back();
        continue;
      }
      for (const Loop* loop : nest) {
        if (loop->extent > 1 && CarriesReduction(*loop, *node->block))
          TW_RETURN_IF_ERROR(CheckLaneReduction(
              *loop, places.at(loop->var), *nest.back(), *node->block, around));
      }
    }
    return absl::OkStatus();
  }

  std::vector<const Loop*> around_;  // of no nest
};

}  // namespace

std::vector<const Loop*> ThreadNest(const Loop& outermost) {
  std::vector<const Loop*> nest = {&outermost};
  while (nest.back()->body.size() == 1 && nest.back()->body[0]->loop &&
         IsOnThreads(*nest.back()->body[0]->loop))
    nest.push_back(&*nest.back()->body[0]->loop);
  return nest;
}

std::map<int, ThreadPlace> ThreadPlaces(const std::vector<const Loop*>& nest) {
  std::map<int, ThreadPlace> places;
  int64_t stride = 1;
  for (size_t i = nest.size(); i-- > 0;) {
    const Loop& loop = *nest[i];
    const bool first_warp = loop.kind == LoopKind::kWarp &&
                            (i + 1 == nest.size() || IsLane(*nest[i + 1]));
    if (first_warp) stride = kWarpLanes;
    ThreadPlace& place = places[loop.var];
    place.stride = stride;
    if (i > 0)
      place.wraps = IsLane(loop) && !IsLane(*nest[i - 1]) ? kWarpLanes / stride
                                                          : loop.extent;
    stride *= loop.extent;
  }
  return places;
}

int64_t ThreadsOf(const std::vector<const Loop*>& nest) {
  int64_t threads = 1;
  bool lanes = false;
  for (const Loop* loop : nest) {
    lanes |= loop->kind != LoopKind::kThread;
    if (!IsLane(*loop)) threads *= loop->extent;
  }
  return lanes ? threads * kWarpLanes : threads;
}

absl::Status CheckThreads(const BlockTree& tree) {
  return Checker().Nodes(tree.roots);
}

}  // namespace tilewright::sketch
