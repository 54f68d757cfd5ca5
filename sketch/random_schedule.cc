#include "sketch/random_schedule.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "sketch/replayer.h"
#include "sketch/tree_edit.h"

namespace tilewright::sketch {
namespace {

constexpr int kAttempts = 10;
// Recomputation may multiply the work, but not without bound.
constexpr int64_t kWorkFactor = 12;
constexpr int64_t kWorkFloor = 4000;

// Body evaluations of one run.
int64_t Work(BlockTree& tree) {
  int64_t work = 0;
  for (const Block* block : AllBlocks(tree)) {
    int64_t runs = 1;
    for (Loop* loop : LoopsAround(FindBlock(tree, block->name)))
      runs *= loop->extent;
    work += runs;
  }
  return work;
}

// Draws one schedule: proposes instructions and keeps those that replay.
class Drawer {
 public:
  // `may_tile`: whether to try task loops; not every group has a common tiling
  // of its outputs.
  Drawer(Replayer replayer, bool may_tile, uint64_t seed)
      : replayer_(std::move(replayer)),
        may_tile_(may_tile),
        random_(seed),
        max_work_(kWorkFloor + kWorkFactor * Work(replayer_.tree())) {}

  absl::StatusOr<Schedule> Draw() {
    if (may_tile_ && random_.Bernoulli(0.9)) GroupTile();
    Place();
    std::vector<std::string> blocks = BlockNames();
    for (const std::string& block : blocks) Refine(block);
    for (const std::string& block : blocks) Roll(block);
    SetLayouts();
    TW_RETURN_IF_ERROR(replayer_.Finish());
    return schedule_;
  }

 private:
  BlockTree& tree() { return replayer_.tree(); }

  bool Try(Primitive primitive, std::vector<Handle> operands,
           const std::vector<Decision>& decisions, std::string text,
           size_t results = 0) {
    Instruction instruction;
    instruction.primitive = primitive;
    instruction.operands = std::move(operands);
    instruction.text = std::move(text);
    size_t old_decisions = schedule_.decisions.size();
    for (const Decision& decision : decisions) {
      instruction.decisions.push_back(
          static_cast<int>(schedule_.decisions.size()));
      schedule_.decisions.push_back(decision);
    }
    for (size_t i = 0; i < results; ++i)
      instruction.results.push_back(
          static_cast<int>(replayer_.handles().size() + i));
    Replayer trial = replayer_.Clone();
    if (!trial.Apply(schedule_, instruction).ok() ||
        Work(trial.tree()) > max_work_) {
      schedule_.decisions.resize(old_decisions);
      return false;
    }
    replayer_ = std::move(trial);
    last_results_ = instruction.results;
    schedule_.instructions.push_back(std::move(instruction));
    return true;
  }

  std::vector<std::string> BlockNames() {
    std::vector<std::string> names;
    for (const Block* block : AllBlocks(tree())) names.push_back(block->name);
    return names;
  }

  std::optional<Handle> HandleOf(const std::string& block) {
    const std::vector<HandleValue>& handles = replayer_.handles();
    for (size_t i = 0; i < handles.size(); ++i) {
      if (handles[i].kind == HandleValue::Kind::kBlock &&
          handles[i].block == block)
        return static_cast<int>(i);
    }
    if (!Try(Primitive::kBlock, {}, {}, block, 1)) return std::nullopt;
    return last_results_[0];
  }

  // Loops around the block that have handles, outermost first; names those of
  // its own axes that have none.
  std::vector<Handle> LoopsOf(const std::string& name) {
    Path path = FindBlock(tree(), name);
    if (path.empty()) return {};
    std::vector<std::pair<std::string, int>> axes;
    const Block& block = *path.back().node().block;
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      axes.emplace_back(i < block.axes.size()
                            ? block.axes[i].name
                            : block.reduce_axes[i - block.axes.size()].name,
                        0);
    }
    std::vector<int> vars;
    for (Loop* loop : LoopsAround(path)) vars.push_back(loop->var);
    bool complete = std::all_of(vars.begin(), vars.end(), [&](int var) {
      return LoopHandle(var).has_value();
    });
    std::optional<Handle> handle = HandleOf(name);
    for (size_t i = 0; handle && !complete && i < axes.size(); ++i)
      Try(Primitive::kLoop, {*handle}, {}, axes[i].first, 1);
    std::vector<Handle> loops;
    for (int var : vars) {
      std::optional<Handle> loop = LoopHandle(var);
      if (loop) loops.push_back(*loop);
    }
    return loops;
  }

  std::optional<Handle> LoopHandle(int var) {
    const std::vector<HandleValue>& handles = replayer_.handles();
    for (size_t i = 0; i < handles.size(); ++i) {
      if (handles[i].kind == HandleValue::Kind::kLoop && handles[i].var == var)
        return static_cast<int>(i);
    }
    return std::nullopt;
  }

  const Loop* LoopOf(Handle handle) {
    Path path = FindLoop(tree(), replayer_.handles()[handle].var);
    return path.empty() ? nullptr : &*path.back().node().loop;
  }

  Decision DrawSplit(int64_t extent, int parts) {
    std::vector<int64_t> factors(parts, 1);
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
    return SplitDecision(
        absl::StrCat("d", schedule_.decisions.size(), "_", next_name_++),
        extent, factors);
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
    std::vector<Decision> decisions;
    const Block final_block = *FindBlock(tree(), last).back().node().block;
    for (const std::string& name : outputs) {
      const Block& block = *FindBlock(tree(), name).back().node().block;
      bool same = block.axes.size() == final_block.axes.size();
      for (size_t i = 0; same && i < block.axes.size(); ++i)
        same = block.axes[i].extent == final_block.axes[i].extent;
      if (!same || (name != last && random_.Bernoulli(0.15))) continue;
      std::optional<Handle> handle = HandleOf(name);
      if (handle) handles.push_back(*handle);
    }
    for (const Axis& axis : final_block.axes)
      decisions.push_back(DrawSplit(axis.extent.value(), 2));
    Try(Primitive::kGroupTile, handles, decisions, "", decisions.size());
  }

  // Attaches or inlines what is not under the task loops, consumers before
  // producers.
  void Place() {
    std::vector<std::string> names = BlockNames();
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
    std::optional<Handle> block = HandleOf(name);
    if (!block) return;
    if (random_.Bernoulli(0.35) &&
        Try(Primitive::kComputeInline, {*block}, {}, ""))
      return;
    if (random_.Bernoulli(0.15) &&
        Try(Primitive::kReverseComputeInline, {*block}, {}, ""))
      return;
    if (random_.Bernoulli(0.2) && ReverseAttach(name, *block)) return;
    std::vector<Handle> places = ConsumerLoops(name);
    random_.Shuffle(absl::MakeSpan(places));
    for (size_t i = 0; i < places.size() && i < 4; ++i) {
      if (Try(Primitive::kComputeAt, {*block, places[i]}, {}, "")) return;
    }
    Path first = {};
    std::vector<int> tasks;
    ForEachLoop(tree().roots, [&](Loop& loop) {
      if (loop.kind == LoopKind::kTask) tasks.push_back(loop.var);
    });
    if (!tasks.empty())
      Try(Primitive::kComputeAt, {*block, *LoopHandle(tasks.back())}, {}, "");
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
        LoopsOf(producers[random_.Index(producers.size())]);
    random_.Shuffle(absl::MakeSpan(loops));
    for (Handle loop : loops) {
      if (Try(Primitive::kReverseComputeAt, {block, loop}, {}, "")) return true;
    }
    return false;
  }

  std::vector<Handle> ConsumerLoops(const std::string& name) {
    const Block producer = *FindBlock(tree(), name).back().node().block;
    std::vector<Handle> places;
    for (const std::string& consumer : BlockNames()) {
      bool reads = false;
      for (int loaded :
           LoadedBuffers(*FindBlock(tree(), consumer).back().node().block))
        reads |= WritesTo(producer, loaded);
      if (!reads) continue;
      for (Handle loop : LoopsOf(consumer)) places.push_back(loop);
    }
    return places;
  }

  // Splits, fuses and reorders loops of the block.
  void Transform(std::string name) {
    for (int64_t i = random_.UniformInt(0, 3); i > 0; --i) {
      std::vector<Handle> loops = LoopsOf(name);
      if (loops.empty()) return;
      const Loop* loop = LoopOf(loops[random_.Index(loops.size())]);
      int parts = static_cast<int>(random_.UniformInt(2, 3));
      if (random_.Bernoulli(0.5)) {
        std::optional<Handle> handle = LoopHandle(loop->var);
        Try(Primitive::kSplit, {*handle}, {DrawSplit(loop->extent, parts)}, "",
            parts);
      } else if (random_.Bernoulli(0.2) && loops.size() >= 2) {
        size_t at = random_.Index(loops.size() - 1);
        Try(Primitive::kFuse, {loops[at], loops[at + 1]}, {}, "", 1);
      } else {
        Reorder(loops);
      }
    }
  }

  // Some of the loops in another order: tasks stay outermost, tiles innermost.
  void Reorder(std::vector<Handle> loops) {
    std::vector<Handle> movable;
    for (Handle handle : loops) {
      if (LoopOf(handle)->kind != LoopKind::kTask && random_.Bernoulli(0.7))
        movable.push_back(handle);
    }
    if (movable.size() < 2) return;
    random_.Shuffle(absl::MakeSpan(movable));
    Try(Primitive::kReorder, movable, {}, "");
  }

  void Refine(const std::string& name) {
    std::optional<Handle> block = HandleOf(name);
    if (!block || FindBlock(tree(), name).empty()) return;
    Transform(name);
    if (random_.Bernoulli(0.4)) RFactor(name, *block);
    if (random_.Bernoulli(0.3)) CacheRead(name, *block);
    if (random_.Bernoulli(0.3) &&
        Try(Primitive::kCacheWrite, {*block}, {},
            random_.Bernoulli(0.5) ? "registers" : "scratch", 1)) {
      std::string copy = replayer_.handles()[last_results_[0]].block;
      Transform(copy);
      if (random_.Bernoulli(0.5)) ReverseInlineConsumer(copy);
    }
    if (random_.Bernoulli(0.4))
      Try(Primitive::kSetLevel, {*block}, {},
          random_.Bernoulli(0.7) ? "registers" : "scratch");
    std::vector<Handle> loops = LoopsOf(name);
    if (!loops.empty() && random_.Bernoulli(0.2))
      Try(Primitive::kAnnotate, {loops[random_.Index(loops.size())]}, {},
          "unroll");
    if (random_.Bernoulli(0.6)) {
      for (Handle loop : loops) {
        if (random_.Bernoulli(0.5) &&
            Try(Primitive::kAnnotate, {loop}, {}, "tile"))
          break;
      }
    }
  }

  // Rolls along the first loop that it can.
  void Roll(const std::string& name) {
    const std::optional<Handle> block = HandleOf(name);
    if (!block || FindBlock(tree(), name).empty() || random_.Bernoulli(0.3))
      return;
    for (const Handle loop : LoopsOf(name)) {
      const Replayer before = replayer_.Clone();
      if (!Try(Primitive::kRolling, {*block, loop}, {}, "")) continue;
      Replayer trial = replayer_.Clone();
      if (trial.Finish().ok()) return;
      replayer_ = before.Clone();
      schedule_.instructions.pop_back();
    }
  }

  // The partial results of one of its reduce loops, here or inside the loops
  // of what is left of the reduction.
  void RFactor(const std::string& name, Handle block) {
    std::vector<Handle> reducing;
    for (Handle loop : LoopsOf(name)) {
      if (CarriesReduction(*LoopOf(loop),
                           *FindBlock(tree(), name).back().node().block))
        reducing.push_back(loop);
    }
    if (reducing.empty()) return;
    Handle loop = reducing[random_.Index(reducing.size())];
    if (reducing.size() == 1 &&
        Try(Primitive::kSplit, {loop}, {DrawSplit(LoopOf(loop)->extent, 2)}, "",
            2))
      loop = last_results_[random_.Index(2)];
    if (!Try(Primitive::kRFactor, {block, loop}, {}, "", 1)) return;
    const std::string partial = replayer_.handles()[last_results_[0]].block;
    const Handle partial_block = last_results_[0];
    Transform(name);
    std::vector<Handle> places = LoopsOf(name);
    if (random_.Bernoulli(0.5) && !places.empty())
      Try(Primitive::kComputeAt,
          {partial_block, places[random_.Index(places.size())]}, {}, "");
    Refine(partial);
  }

  void CacheRead(const std::string& name, Handle block) {
    std::vector<int> loaded =
        LoadedBuffers(*FindBlock(tree(), name).back().node().block);
    std::vector<Handle> loops = LoopsOf(name);
    if (loaded.empty() || loops.empty()) return;
    const std::string source =
        tree().buffers[loaded[random_.Index(loaded.size())]].name;
    Handle loop = loops[random_.Index(loops.size())];
    if (Try(Primitive::kCacheRead, {block, loop}, {},
            absl::StrCat(source,
                         random_.Bernoulli(0.8) ? " scratch" : " registers"),
            1)) {
      Transform(replayer_.handles()[last_results_[0]].block);
    }
  }

  void ReverseInlineConsumer(const std::string& producer) {
    const Block block = *FindBlock(tree(), producer).back().node().block;
    for (const std::string& name : BlockNames()) {
      bool reads = false;
      for (int loaded :
           LoadedBuffers(*FindBlock(tree(), name).back().node().block))
        reads |= WritesTo(block, loaded);
      std::optional<Handle> handle = reads ? HandleOf(name) : std::nullopt;
      if (handle && Try(Primitive::kReverseComputeInline, {*handle}, {}, ""))
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
        Try(Primitive::kSetLayout, {}, {},
            absl::StrCat(buffer.name, " ", layout->ToString()));
    }
  }

  Replayer replayer_;
  bool may_tile_;
  Schedule schedule_;
  Random random_;
  int64_t max_work_;
  std::vector<Handle> last_results_;
  int next_name_ = 0;
};

}  // namespace

absl::StatusOr<Schedule> RandomSchedule(const Workload& workload,
                                        uint64_t seed) {
  TW_ASSIGN_OR_RETURN(Replayer replayer, Replayer::Create(workload));
  Random random(seed);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    absl::StatusOr<Schedule> schedule =
        Drawer(replayer.Clone(), attempt < kAttempts / 2, random.Next()).Draw();
    if (schedule.ok()) return schedule;
  }
  return Schedule();
}

}  // namespace tilewright::sketch
