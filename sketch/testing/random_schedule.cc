#include "sketch/testing/random_schedule.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "sketch/replay/replayer.h"
#include "sketch/testing/growing_schedule.h"
#include "sketch/testing/random_threads.h"
#include "sketch/tree/tree_edit.h"
#include "tilegraph/analysis/known_zeros.h"

namespace tilewright::sketch {
namespace {

constexpr int kAttempts = 10;
// Recomputation may multiply the work, but not without bound.
constexpr int64_t kWorkFactor = 12;
constexpr int64_t kWorkFloor = 4000;

// Draws one schedule: proposes instructions and keeps those that replay.
class Drawer {
 public:
  // `may_tile`: whether to try task loops; not every group has a common tiling
  // of its outputs.
  Drawer(Replayer replayer, bool may_tile, uint64_t seed)
      : workload_(replayer.workload()),
        zeros_(FindKnownZeros(workload_.graph, workload_.zeros)),
        grown_(std::move(replayer), kWorkFloor, kWorkFactor),
        may_tile_(may_tile),
        random_(seed) {}

  absl::StatusOr<Schedule> Draw(bool threads) {
    if (may_tile_ && random_.Bernoulli(0.9)) GroupTile();
    Place();
    std::vector<std::string> blocks = grown_.BlockNames();
    for (const std::string& block : blocks) Refine(block);
    for (const std::string& block : blocks) Roll(block);
    SetLayouts();
    if (threads) BindThreads(grown_, random_);
    return std::move(grown_).Finish();
  }

 private:
  BlockTree& tree() { return grown_.tree(); }

  Factors DrawSplit(int64_t extent, int parts) {
    Factors factors(parts, 1);
    int64_t rest = extent;
    for (int i = parts - 1; i > 0; --i) {
      int64_t factor = random_.UniformInt(1, rest);
      if (random_.Bernoulli(0.3)) factor = 1;
      if (random_.Bernoulli(0.2)) factor = rest;
      factors[i] = factor;
      rest = (rest + factor - 1) / factor;
    }
    factors[0] = rest;
    int64_t product = 1;
    for (int64_t f : factors) product *= f;
    // The outermost factor must not have an empty iteration: with several parts
    // the rounding may add one.
    while (factors[0] > 1 && product - product / factors[0] >= extent) {
      product -= product / factors[0];
      --factors[0];
    }
    return factors;
  }

  void GroupTile() {
    std::vector<std::string> outputs;
    std::vector<int64_t> shape;
    for (const Block* block : AllBlocks(tree())) {
      if (tree().buffers[block->dst[0]].level == MemLevel::kGlobal)
        outputs.push_back(block->name);
    }
    std::string last = outputs.back();
    std::vector<Handle> handles;
    std::vector<Factors> tiles;
    const Block final_block = *FindBlock(tree(), last).back().node().block;
    for (const std::string& name : outputs) {
      const Block& block = *FindBlock(tree(), name).back().node().block;
      bool same = block.axes.size() == final_block.axes.size();
      for (size_t i = 0; same && i < block.axes.size(); ++i)
        same = block.axes[i].extent == final_block.axes[i].extent;
      if (!same || (name != last && random_.Bernoulli(0.15))) continue;
      std::optional<Handle> handle = grown_.HandleOf(name);
      if (handle) handles.push_back(*handle);
    }
    for (const Axis& axis : final_block.axes)
      tiles.push_back(DrawSplit(axis.extent.value(), 2));
    const size_t results = tiles.size();
    grown_.Try(Primitive::kGroupTile, handles, std::move(tiles), "", results);
  }

  // Attaches or inlines what is not under the task loops, consumers before
  // producers.
  void Place() {
    std::vector<std::string> names = grown_.BlockNames();
    std::reverse(names.begin(), names.end());
    for (const std::string& name : names) {
      Path path = FindBlock(tree(), name);
      if (path.empty()) continue;
      bool inside =
          path[0].node().loop && path[0].node().loop->kind == LoopKind::kTask;
      if (!inside) Attach(name);
      if (!FindBlock(tree(), name).empty()) Transform(name);
    }
  }

  void Attach(const std::string& name) {
    std::optional<Handle> block = grown_.HandleOf(name);
    if (!block) return;
    if (random_.Bernoulli(0.35) &&
        grown_.Try(Primitive::kComputeInline, {*block}, {}, ""))
      return;
    if (random_.Bernoulli(0.15) &&
        grown_.Try(Primitive::kReverseComputeInline, {*block}, {}, ""))
      return;
    if (random_.Bernoulli(0.2) && ReverseAttach(name, *block)) return;
    std::vector<Handle> places = ConsumerLoops(name);
    random_.Shuffle(absl::MakeSpan(places));
    for (size_t i = 0; i < places.size() && i < 4; ++i) {
      if (grown_.Try(Primitive::kComputeAt, {*block, places[i]}, {}, ""))
        return;
    }
    std::vector<int> tasks;
    ForEachLoop(tree().roots, [&](Loop& loop) {
      if (loop.kind == LoopKind::kTask) tasks.push_back(loop.var);
    });
    if (!tasks.empty())
      grown_.Try(Primitive::kComputeAt,
                 {*block, *grown_.LoopHandle(tasks.back())}, {}, "");
  }

  bool ReverseAttach(const std::string& name, Handle block) {
    Path path = FindBlock(tree(), name);
    std::vector<std::string> producers;
    for (int loaded : LoadedBuffers(*path.back().node().block)) {
      Path producer = FindWriter(tree(), loaded);
      if (!producer.empty())
        producers.push_back(producer.back().node().block->name);
    }
    if (producers.empty()) return false;
    std::vector<Handle> loops =
        grown_.LoopsOf(producers[random_.Index(producers.size())]);
    random_.Shuffle(absl::MakeSpan(loops));
    for (Handle loop : loops) {
      if (grown_.Try(Primitive::kReverseComputeAt, {block, loop}, {}, ""))
        return true;
    }
    return false;
  }

  std::vector<Handle> ConsumerLoops(const std::string& name) {
    std::vector<Handle> places;
    for (const std::string& consumer : grown_.ReadersOf(name)) {
      for (Handle loop : grown_.LoopsOf(consumer)) places.push_back(loop);
    }
    return places;
  }

  // Splits, fuses and reorders loops of the block.
  void Transform(std::string name) {
    for (int64_t i = random_.UniformInt(0, 3); i > 0; --i) {
      std::vector<Handle> loops = grown_.LoopsOf(name);
      if (loops.empty()) return;
      const Loop* loop = grown_.LoopOf(loops[random_.Index(loops.size())]);
      int parts = static_cast<int>(random_.UniformInt(2, 3));
      if (random_.Bernoulli(0.5)) {
        std::optional<Handle> handle = grown_.LoopHandle(loop->var);
        grown_.Try(Primitive::kSplit, {*handle},
                   {DrawSplit(loop->extent, parts)}, "", parts);
      } else if (random_.Bernoulli(0.2) && loops.size() >= 2) {
        size_t at = random_.Index(loops.size() - 1);
        grown_.Try(Primitive::kFuse, {loops[at], loops[at + 1]}, {}, "", 1);
      } else {
        Reorder(loops);
      }
    }
  }

  // Some of the loops in another order: tasks stay outermost, tiles innermost.
  void Reorder(std::vector<Handle> loops) {
    std::vector<Handle> movable;
    for (Handle handle : loops) {
      if (grown_.LoopOf(handle)->kind != LoopKind::kTask &&
          random_.Bernoulli(0.7))
        movable.push_back(handle);
    }
    if (movable.size() < 2) return;
    random_.Shuffle(absl::MakeSpan(movable));
    grown_.Try(Primitive::kReorder, movable, {}, "");
  }

  void Refine(const std::string& name) {
    std::optional<Handle> block = grown_.HandleOf(name);
    if (!block || FindBlock(tree(), name).empty()) return;
    Transform(name);
    SkipZeros(name, *block);
    if (random_.Bernoulli(0.4)) RFactor(name, *block);
    if (random_.Bernoulli(0.3)) CacheRead(name, *block);
    if (random_.Bernoulli(0.3) &&
        grown_.Try(Primitive::kCacheWrite, {*block}, {},
                   random_.Bernoulli(0.5) ? "registers" : "scratch", 1)) {
      std::string copy = grown_.BlockOf(grown_.last_results()[0]);
      Transform(copy);
      if (random_.Bernoulli(0.5)) ReverseInlineConsumer(copy);
    }
    if (random_.Bernoulli(0.4))
      grown_.Try(Primitive::kSetLevel, {*block}, {},
                 random_.Bernoulli(0.7) ? "registers" : "scratch");
    std::vector<Handle> loops = grown_.LoopsOf(name);
    if (!loops.empty() && random_.Bernoulli(0.2))
      grown_.Try(Primitive::kAnnotate, {loops[random_.Index(loops.size())]}, {},
                 "unroll");
    if (random_.Bernoulli(0.6)) {
      for (Handle loop : loops) {
        if (random_.Bernoulli(0.5) &&
            grown_.Try(Primitive::kAnnotate, {loop}, {}, "tile"))
          break;
      }
    }
  }

  // Rolls along the first loop that it can.
  void Roll(const std::string& name) {
    const std::optional<Handle> block = grown_.HandleOf(name);
    if (!block || FindBlock(tree(), name).empty() || random_.Bernoulli(0.3))
      return;
    for (const Handle loop : grown_.LoopsOf(name)) {
      if (grown_.Try(Primitive::kRolling, {*block, loop}, {}, "", 0,
                     GrowingSchedule::Must::kFinish))
        return;
    }
  }

  // Along some dimensions of what the block reads and is known to be zero.
  void SkipZeros(const std::string& name, Handle block) {
    std::set<TensorId> read;
    for (const int loaded :
         LoadedBuffers(*FindBlock(tree(), name).back().node().block))
      read.insert(tree().buffers[loaded].tensor);
    for (const auto& [tensor, zeros] : zeros_) {
      if (read.count(tensor) == 0 || random_.Bernoulli(0.3)) continue;
      std::vector<size_t> dims;
      for (size_t dim = 0; dim < zeros.before.size(); ++dim) {
        if (zeros.before[dim] + zeros.after[dim] > 0 && random_.Bernoulli(0.7))
          dims.push_back(dim);
      }
      if (dims.empty()) continue;
      const std::string source = workload_.graph.tensor(tensor).name;
      grown_.Try(Primitive::kSkipZeros, {block}, {},
                 absl::StrCat(source, " ", absl::StrJoin(dims, ",")));
    }
  }

  // The partial results of one of its reduce loops, here or inside the loops
  // of what is left of the reduction.
  void RFactor(const std::string& name, Handle block) {
    std::vector<Handle> reducing;
    for (Handle loop : grown_.LoopsOf(name)) {
      if (CarriesReduction(*grown_.LoopOf(loop),
                           *FindBlock(tree(), name).back().node().block))
        reducing.push_back(loop);
    }
    if (reducing.empty()) return;
    Handle loop = reducing[random_.Index(reducing.size())];
    if (reducing.size() == 1 &&
        grown_.Try(Primitive::kSplit, {loop},
                   {DrawSplit(grown_.LoopOf(loop)->extent, 2)}, "", 2))
      loop = grown_.last_results()[random_.Index(2)];
    if (!grown_.Try(Primitive::kRFactor, {block, loop}, {}, "", 1)) return;
    const std::string partial = grown_.BlockOf(grown_.last_results()[0]);
    const Handle partial_block = grown_.last_results()[0];
    Transform(name);
    std::vector<Handle> places = grown_.LoopsOf(name);
    if (random_.Bernoulli(0.5) && !places.empty())
      grown_.Try(Primitive::kComputeAt,
                 {partial_block, places[random_.Index(places.size())]}, {}, "");
    Refine(partial);
  }

  void CacheRead(const std::string& name, Handle block) {
    std::vector<int> loaded =
        LoadedBuffers(*FindBlock(tree(), name).back().node().block);
    std::vector<Handle> loops = grown_.LoopsOf(name);
    if (loaded.empty() || loops.empty()) return;
    const std::string source =
        tree().buffers[loaded[random_.Index(loaded.size())]].name;
    Handle loop = loops[random_.Index(loops.size())];
    if (grown_.Try(Primitive::kCacheRead, {block, loop}, {},
                   absl::StrCat(source, random_.Bernoulli(0.8) ? " scratch"
                                                               : " registers"),
                   1)) {
      Transform(grown_.BlockOf(grown_.last_results()[0]));
    }
  }

  void ReverseInlineConsumer(const std::string& producer) {
    for (const std::string& name : grown_.ReadersOf(producer)) {
      std::optional<Handle> handle = grown_.HandleOf(name);
      if (handle &&
          grown_.Try(Primitive::kReverseComputeInline, {*handle}, {}, ""))
        return;
    }
  }

  void SetLayouts() {
    for (size_t i = 0; i < tree().buffers.size(); ++i) {
      const Buffer buffer = tree().buffers[i];
      const std::vector<int64_t>& shape = buffer.layout.shape();
      if (shape.empty() || random_.Bernoulli(0.6)) continue;
      std::vector<Layout::Digit> digits;
      for (size_t d = 0; d < shape.size(); ++d) {
        int64_t block =
            random_.Bernoulli(0.5) ? random_.UniformInt(1, shape[d]) : 1;
        int64_t blocks = (shape[d] + block - 1) / block;
        if (block > 1) digits.push_back({static_cast<int>(d), 1, block});
        if (blocks > 1 || block == 1)
          digits.push_back({static_cast<int>(d), block, blocks});
      }
      random_.Shuffle(absl::MakeSpan(digits));
      std::vector<int64_t> no_padding(shape.size(), 0);
      absl::StatusOr<Layout> layout = Layout::Create(
          shape, no_padding, no_padding, digits, Layout::Fill::kUndefined);
      if (layout.ok())
        grown_.Try(Primitive::kSetLayout, {}, {},
                   absl::StrCat(buffer.name, " ", layout->ToString()));
    }
  }

  const Workload& workload_;
  const std::map<TensorId, KnownZeros> zeros_;
  GrowingSchedule grown_;
  const bool may_tile_;
  Random random_;
};

absl::StatusOr<Schedule> DrawSchedule(const Workload& workload, uint64_t seed,
                                      bool threads) {
  TW_ASSIGN_OR_RETURN(Replayer replayer, Replayer::Create(workload));
  Random random(seed);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    absl::StatusOr<Schedule> schedule =
        Drawer(replayer.Clone(), attempt < kAttempts / 2, random.Next())
            .Draw(threads);
    if (schedule.ok()) return schedule;
  }
  return Schedule();
}

}  // namespace

absl::StatusOr<Schedule> RandomSchedule(const Workload& workload,
                                        uint64_t seed) {
  return DrawSchedule(workload, seed, /*threads=*/false);
}

absl::StatusOr<Schedule> RandomThreadedSchedule(const Workload& workload,
                                                uint64_t seed) {
  return DrawSchedule(workload, seed, /*threads=*/true);
}

}  // namespace tilewright::sketch
