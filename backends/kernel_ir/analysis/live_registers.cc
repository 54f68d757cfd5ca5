#include "backends/kernel_ir/analysis/live_registers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "backends/kernel_ir/analysis/lane_steps.h"

namespace tilewright::kernel_ir {
namespace {

// What is live, from the end of the text to its start.
class Liveness {
 public:
  explicit Liveness(const LaneSteps& text)
      : text_(text),
        live_(static_cast<size_t>(text.lanes())),
        loops_(text.loops().size()),
        loads_(text.loads().size()),
        starts_(text.starts().size()) {
    for (int step = static_cast<int>(text.steps().size()) - 1; step >= 0;
         --step)
      Pass(step);
  }
  const RegisterNeeds& needs() const { return needs_; }

 private:
  struct Branches {
    size_t changes = 0;        // behind them
    std::vector<int> by_else;  // lanes
  };
  struct LoopNeeds {
    int64_t with_loads = 0;                      // inside, of one turn
    int64_t memory_words = 0, shared_words = 0;  // that a turn loads
  };

  void Turn(int lane) {
    words_ += live_[lane] ? -text_.words(lane) : text_.words(lane);
    live_[lane] = live_[lane] ? 0 : 1;
  }
  void Begin(int lane) {
    if (!live_[lane]) Change(lane);
  }
  void End(int lane) {
    if (live_[lane]) Change(lane);
  }
  void Change(int lane) {
    Turn(lane);
    if (!branches_.empty()) changes_.push_back(lane);
  }
  void Count() {
    const int64_t with_loads = words_ + memory_ahead_ + shared_ahead_;
    needs_.live = std::max(needs_.live, words_);
    needs_.with_loads = std::max(needs_.with_loads, with_loads);
    if (around_.empty()) return;
    LoopNeeds& loop = loops_[around_.back()];
    loop.with_loads = std::max(loop.with_loads, with_loads);
  }

  void PassLoop(int id) {
    around_.pop_back();
    const LaneLoop& loop = text_.loops()[id];
    if (!loop.innermost || loop.barriers) return;
    const int64_t words = loops_[id].memory_words +
                          (loop.stores_shared ? 0 : loops_[id].shared_words);
    needs_.with_loads =
        std::max(needs_.with_loads,
                 loops_[id].with_loads + (loop.UnrolledTurns() - 1) * words);
  }
  // Lanes that are live now and were not when there were so many changes, or
  // the other way round; ascending.
  std::vector<int> ChangedSince(size_t changes) const {
    std::vector<int> turned(changes_.begin() + changes, changes_.end());
    std::sort(turned.begin(), turned.end());
    std::vector<int> changed;
    for (const int lane : turned) {
      if (!changed.empty() && changed.back() == lane)
        changed.pop_back();
      else
        changed.push_back(lane);
    }
    return changed;
  }
  // What is live behind both branches is so at the end of the first, too.
  void PassElse() {
    Branches& branches = branches_.back();
    branches.by_else = ChangedSince(branches.changes);
    for (; changes_.size() > branches.changes; changes_.pop_back())
      Turn(changes_.back());
  }
  // What one of them changed alone is live at the start of the one or the
  // other, so before both.
  void PassIf() {
    const Branches branches = std::move(branches_.back());
    const std::vector<int> by_then = ChangedSince(branches.changes);
    std::vector<int> by_one;
    std::set_symmetric_difference(
        by_then.begin(), by_then.end(), branches.by_else.begin(),
        branches.by_else.end(), std::back_inserter(by_one));
    for (const int lane : by_one) Begin(lane);
    branches_.pop_back();
  }

  void PassBound(const LaneStep& step) {
    memory_ahead_ = shared_ahead_ = 0;
    switch (step.kind) {
      case LaneStep::kLoopEnd:
        around_.push_back(step.loop);
        for (const int lane : text_.loops()[step.loop].carried) Begin(lane);
        Count();
        break;
      case LaneStep::kLoop:
        PassLoop(step.loop);
        break;
      case LaneStep::kEndIf:
        branches_.push_back({changes_.size(), {}});
        break;
      case LaneStep::kElse:
        PassElse();
        break;
      case LaneStep::kIf:
        PassIf();
        break;
      case LaneStep::kInst:
      case LaneStep::kBarrier:
        break;
    }
  }
  void PassLoads(int step) {
    if (loads_ == 0 || text_.loads()[loads_ - 1].step != step) return;
    Count();
    for (; loads_ > 0 && text_.loads()[loads_ - 1].step == step; --loads_) {
      const LaneLoad& load = text_.loads()[loads_ - 1];
      for (int i = 0; i < load.lanes; ++i) End(load.first + i);
      (load.shared ? shared_ahead_ : memory_ahead_) += load.words;
      if (around_.empty()) continue;
      LoopNeeds& loop = loops_[around_.back()];
      (load.shared ? loop.shared_words : loop.memory_words) += load.words;
    }
  }
  void Pass(int at) {
    const LaneStep& step = text_.steps()[at];
    const size_t reads = at > 0 ? text_.steps()[at - 1].reads_end : 0;
    const size_t sets = at > 0 ? text_.steps()[at - 1].sets_end : 0;
    Count();
    if (step.kind != LaneStep::kInst) PassBound(step);
    if (step.stores_shared) shared_ahead_ = 0;
    for (size_t i = sets; i < step.sets_end; ++i) End(text_.sets()[i]);
    for (size_t i = reads; i < step.reads_end; ++i) Begin(text_.reads()[i]);
    PassLoads(at);
    for (; starts_ > 0 && text_.starts()[starts_ - 1].step == at; --starts_)
      End(text_.starts()[starts_ - 1].lane);
  }

  const LaneSteps& text_;
  std::vector<char> live_;  // by lane
  std::vector<LoopNeeds> loops_;
  size_t loads_, starts_;  // that are not passed yet
  std::vector<int> around_;
  std::vector<int> changes_;        // lanes that began or ended, of branches
  std::vector<Branches> branches_;  // around this place
  int64_t words_ = 0, memory_ahead_ = 0, shared_ahead_ = 0;
  RegisterNeeds needs_;
};

}  // namespace

RegisterNeeds LiveRegisters(const ScalarKernel& kernel) {
  return Liveness(LaneSteps(kernel)).needs();
}

}  // namespace tilewright::kernel_ir
