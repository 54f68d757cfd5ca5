#include "backends/kernel_ir/analysis/live_registers.h"

#include <algorithm>
#include <cstddef>
#include <variant>
#include <vector>

#include "backends/kernel_ir/operands.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::kernel_ir {
namespace {

constexpr int64_t kWordBytes = 4;
// How far NVRTC 13.0 moves the loads of later turns from shared memory ahead
// whatever that costs, fitted to what it takes (docs/results/gpu.md): one
// turn's of so many, and so many words.
constexpr int64_t kSharedTurnsAhead = 4;
constexpr int64_t kMostAhead = 16;

class Lifetimes {
 public:
  explicit Lifetimes(const ScalarKernel& kernel) : kernel_(kernel) {
    for (const RegType& type : kernel.regs) {
      first_.push_back(static_cast<int>(spans_.size()));
      spans_.resize(spans_.size() + static_cast<size_t>(type.lanes));
      for (int lane = 0; lane < type.lanes; ++lane) {
        part_.push_back(first_.back() + lane);
        of_variable_.push_back(type.is_variable);
      }
    }
    Set(kernel.task);
    if (kernel.has_threads()) Set(kernel.thread);
    Walk(kernel.body);
  }

  RegisterNeeds Needs() const {
    const std::vector<int64_t> live = LiveByPosition();
    RegisterNeeds needs;
    needs.live = *std::max_element(live.begin(), live.end());
    for (const Loop& loop : loops_) {
      const int64_t words = loop.memory_words + loop.shared_words;
      if (!loop.innermost || words == 0) continue;
      const int64_t inside =
          *std::max_element(live.begin() + loop.begin, live.begin() + loop.end);
      needs.live = std::max(needs.live, inside + AheadOf(loop));
      needs.with_loads =
          std::max(needs.with_loads, inside + (loop.turns - 1) * words);
    }
    return needs;
  }

 private:
  // Positions in the text of a lane of a register.
  struct Span {
    int begin = -1, end = -1;
    int loop = -1;         // to whose end it lasts
    bool waiting = false;  // it is a constant until it is mentioned again
  };
  struct Loop {
    int begin = 0, end = 0;
    int unroll = 1;
    int64_t turns = 1;  // as many as are known
    bool innermost = true;
    // Words that a turn loads.
    int64_t memory_words = 0, shared_words = 0;
  };
  static constexpr int kConstant = -1;  // a part that takes no register

  static int64_t WordsOf(DType dtype) {
    if (dtype == DType::kBool) return 0;
    return IsFloat(dtype) ? std::max<int64_t>(1, SizeBytes(dtype) / kWordBytes)
                          : 1;
  }

  static int64_t AheadOf(const Loop& loop) {
    return std::min((loop.unroll - 1) * loop.shared_words / kSharedTurnsAhead,
                    kMostAhead);
  }

  // By position: the words of all values that are needed behind it.
  std::vector<int64_t> LiveByPosition() const {
    std::vector<int64_t> live(static_cast<size_t>(position_) + 1);
    for (Reg reg = 0; reg < static_cast<Reg>(kernel_.regs.size()); ++reg) {
      const int64_t words = WordsOf(kernel_.regs[reg].dtype);
      for (int lane = 0; lane < kernel_.regs[reg].lanes; ++lane) {
        const Span& span = spans_[first_[reg] + lane];
        int end = span.end;
        if (span.loop >= 0) end = std::max(end, loops_[span.loop].end);
        if (span.begin < 0 || end <= span.begin) continue;
        live[span.begin] += words;
        live[end] -= words;
      }
    }
    for (size_t i = 1; i < live.size(); ++i) live[i] += live[i - 1];
    return live;
  }

  static int64_t TurnsOf(const ForInst& loop) {
    if (loop.begin != kNoReg || loop.end != kNoReg) return loop.unroll;
    return std::max<int64_t>(
        1,
        (loop.constant_end - loop.constant_begin + loop.step - 1) / loop.step);
  }

  // The lane that a lane of `reg` is a name for.
  int Part(Reg reg, int lane) const { return part_[first_[reg] + lane]; }
  void Name(Reg reg, int lane, int part) { part_[first_[reg] + lane] = part; }

  // The outermost loop around this place that began behind `position`.
  int LoopSince(int position) const {
    for (const int loop : around_)
      if (loops_[loop].begin > position) return loop;
    return -1;
  }

  void Begin(Span& span) {
    if (span.begin >= 0 && !span.waiting) return;
    const int loop = span.waiting ? LoopSince(span.begin) : -1;
    span.begin = loop >= 0 ? loops_[loop].begin : position_;
    span.waiting = false;
  }
  void Set(Reg reg) {
    for (int lane = 0; lane < kernel_.regs[reg].lanes; ++lane) {
      Span& span = spans_[first_[reg] + lane];
      Begin(span);
      span.end = position_;
    }
  }
  void Read(Reg reg) {
    for (int lane = 0; lane < kernel_.regs[reg].lanes; ++lane) {
      const int part = Part(reg, lane);
      if (part == kConstant) continue;
      Span& span = spans_[part];
      Begin(span);
      span.end = position_;
      if (const int loop = LoopSince(span.begin); loop >= 0) span.loop = loop;
    }
  }

  bool OfVariable(Reg reg) const {
    for (int lane = 0; lane < kernel_.regs[reg].lanes; ++lane) {
      const int part = Part(reg, lane);
      if (part != kConstant && of_variable_[part]) return true;
    }
    return false;
  }

  // Whether `inst` only gives its value other names.
  bool OnlyNames(const Inst& inst) {
    const Reg dst = Sets(inst);
    if (dst == kNoReg || kernel_.regs[dst].is_variable) return false;
    const std::vector<Reg> reads = Reads(inst);
    for (const Reg reg : reads)
      if (OfVariable(reg)) return false;
    const int lanes = kernel_.regs[dst].lanes;
    if (std::holds_alternative<ConstInst>(inst.node)) {
      for (int lane = 0; lane < lanes; ++lane) Name(dst, lane, kConstant);
    } else if (const auto* splat = std::get_if<SplatInst>(&inst.node)) {
      for (int lane = 0; lane < lanes; ++lane)
        Name(dst, lane, Part(splat->source, 0));
    } else if (const auto* one = std::get_if<LaneInst>(&inst.node)) {
      Name(dst, 0, Part(one->source, one->lane));
    } else if (const auto* insert = std::get_if<InsertInst>(&inst.node)) {
      for (int lane = 0; lane < lanes; ++lane)
        Name(dst, lane,
             lane == insert->lane ? Part(insert->value, 0)
                                  : Part(insert->source, lane));
    } else if (const auto* shuffle = std::get_if<ShuffleInst>(&inst.node)) {
      const int of_a = kernel_.regs[shuffle->a].lanes;
      for (int lane = 0; lane < lanes; ++lane) {
        const int from = shuffle->lanes[lane];
        Name(dst, lane,
             from < of_a ? Part(shuffle->a, from)
                         : Part(shuffle->b, from - of_a));
      }
    } else if (std::holds_alternative<CopyInst>(inst.node) ||
               std::holds_alternative<BitcastInst>(inst.node)) {
      for (int lane = 0; lane < lanes; ++lane)
        Name(dst, lane, Part(reads[0], lane));
    } else {
      return false;
    }
    return true;
  }

  // A constant, for a variable that is not mentioned yet.
  bool BeginsAsConstant(const Inst& inst) const {
    const Reg dst = Sets(inst);
    if (dst == kNoReg || !kernel_.regs[dst].is_variable ||
        spans_[first_[dst]].begin >= 0)
      return false;
    if (std::holds_alternative<ConstInst>(inst.node)) return true;
    const auto* copy = std::get_if<CopyInst>(&inst.node);
    return copy != nullptr && Part(copy->source, 0) == kConstant;
  }

  void AddLoad(const LoadInst& load) {
    const ScalarBuffer& buffer = kernel_.buffers[load.buffer];
    if (around_.empty() || buffer.per_thread) return;
    Loop& loop = loops_[around_.back()];
    (buffer.role == Role::kLocal ? loop.shared_words : loop.memory_words) +=
        kernel_.regs[load.dst].lanes;
  }

  void Walk(const std::vector<Inst>& body) {
    for (const Inst& inst : body) {
      ++position_;
      if (std::holds_alternative<PrefetchInst>(inst.node) || OnlyNames(inst))
        continue;
      for (const Reg reg : Reads(inst)) Read(reg);
      const Reg dst = Sets(inst);
      if (BeginsAsConstant(inst)) {
        for (int lane = 0; lane < kernel_.regs[dst].lanes; ++lane)
          spans_[first_[dst] + lane] = {position_, -1, -1, true};
        continue;
      }
      if (const auto* loop = std::get_if<ForInst>(&inst.node)) {
        const int id = static_cast<int>(loops_.size());
        if (!around_.empty()) loops_[around_.back()].innermost = false;
        loops_.push_back({position_, 0, loop->unroll, TurnsOf(*loop)});
        // Its counter is there to the end.
        Set(loop->var);
        around_.push_back(id);
        Walk(loop->body);
        around_.pop_back();
        loops_[id].end = ++position_;
        spans_[first_[loop->var]].end = position_;
        continue;
      }
      if (dst != kNoReg) Set(dst);
      if (const auto* load = std::get_if<LoadInst>(&inst.node)) AddLoad(*load);
      if (const auto* branch = std::get_if<IfInst>(&inst.node)) {
        Walk(branch->then_body);
        Walk(branch->else_body);
      }
    }
  }

  const ScalarKernel& kernel_;
  std::vector<int> first_;  // lane of a register
  std::vector<int> part_;   // by lane
  std::vector<bool> of_variable_;
  std::vector<Span> spans_;
  std::vector<Loop> loops_;
  std::vector<int> around_;  // this place, outermost first
  int position_ = 0;
};

}  // namespace

RegisterNeeds LiveRegisters(const ScalarKernel& kernel) {
  return Lifetimes(kernel).Needs();
}

}  // namespace tilewright::kernel_ir
