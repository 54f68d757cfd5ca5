#include "sketch/testing/random_threads.h"

#include <cstdint>
#include <string>
#include <vector>

#include "sketch/tree/thread_loops.h"
#include "sketch/tree/tree_edit.h"

namespace tilewright::sketch {
namespace {

// Interpreters run every thread.
constexpr int64_t kMostDrawn = 128;

class Binder {
 public:
  Binder(GrowingSchedule& grown, Random& random)
      : grown_(grown), random_(random) {}

  void Bind(const std::string& block) {
    const std::vector<Handle> loops = grown_.LoopsOf(block);
    if (loops.empty() || random_.Bernoulli(0.15)) return;
    if (random_.Bernoulli(0.5) && BindReduction(block, loops)) return;
    if (random_.Bernoulli(0.1) &&
        Try(loops[random_.Index(loops.size())], "vthread"))
      return;
    const bool in_warps = random_.Bernoulli(0.3);
    in_warps ? BindWarps(loops) : BindRun(loops, "thread");
  }

  // A loop whose copies, if it has any, come before their step.
  void TakeAhead(const std::string& block) {
    const std::vector<Handle> loops = grown_.LoopsOf(block);
    if (loops.empty() || random_.Bernoulli(0.5)) return;
    static constexpr const char* kHints[] = {"stages=2", "buffers=2",
                                             "buffers=3", "buffers=4"};
    const Handle loop = loops[random_.Index(loops.size())];
    const size_t hint = random_.Index(4);
    grown_.Try(Primitive::kAnnotate, {loop}, {}, kHints[hint]);
    if (hint > 0 && random_.Bernoulli(0.5))
      grown_.Try(Primitive::kAnnotate, {loop}, {}, kHints[0]);
  }

 private:
  bool Try(Handle loop, const char* kind) {
    return grown_.Try(Primitive::kBind, {loop}, {}, kind, 0,
                      GrowingSchedule::Must::kFinish);
  }
  int64_t ExtentOf(Handle loop) { return grown_.LoopOf(loop)->extent; }

  // Neighbouring loops from a drawn one inwards, as many as may be threads.
  void BindRun(const std::vector<Handle>& loops, const char* kind) {
    int64_t threads = 1;
    bool bound = false;
    const size_t start =
        random_.Bernoulli(0.5) ? 0 : random_.Index(loops.size());
    for (size_t i = start; i < loops.size(); ++i) {
      threads *= ExtentOf(loops[i]);
      if (threads > kMostDrawn || (bound && random_.Bernoulli(0.3))) return;
      if (Try(loops[i], kind)) {
        bound = true;
      } else if (bound) {
        return;
      } else {
        threads = 1;
      }
    }
  }

  // A loop of lanes, and the one around it of warps.
  void BindWarps(const std::vector<Handle>& loops) {
    const size_t lane = random_.Index(loops.size());
    if (!Try(loops[lane], "lane")) return;
    if (lane > 0 && ExtentOf(loops[lane - 1]) * kWarpLanes <= kMostDrawn &&
        random_.Bernoulli(0.8))
      Try(loops[lane - 1], "warp");
  }

  // A loop that reduces the block, as lanes, and perhaps warps around it.
  bool BindReduction(const std::string& block,
                     const std::vector<Handle>& loops) {
    for (size_t i = 0; i < loops.size(); ++i) {
      const Loop& loop = *grown_.LoopOf(loops[i]);
      if (loop.extent == 1 ||
          !CarriesReduction(
              loop, *FindBlock(grown_.tree(), block).back().node().block) ||
          !Try(loops[i], "lane"))
        continue;
      if (i > 0 && ExtentOf(loops[i - 1]) * kWarpLanes <= kMostDrawn)
        Try(loops[i - 1], "warp");
      return true;
    }
    return false;
  }

  GrowingSchedule& grown_;
  Random& random_;
};

}  // namespace

void BindThreads(GrowingSchedule& grown, Random& random) {
  Binder binder(grown, random);
  for (const std::string& block : grown.BlockNames()) {
    if (!FindBlock(grown.tree(), block).empty()) binder.Bind(block);
  }
  for (const std::string& block : grown.BlockNames()) {
    if (!FindBlock(grown.tree(), block).empty()) binder.TakeAhead(block);
  }
}

}  // namespace tilewright::sketch
