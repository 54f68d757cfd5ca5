#include "backends/kernel_ir/analysis/thread_walk.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "absl/types/span.h"
#include "backends/kernel_ir/access_pieces.h"
#include "backends/kernel_ir/divisors.h"
#include "backends/kernel_ir/operands.h"
#include "base/ceil_div.h"
#include "base/spread_step.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/integer_op.h"
#include "tilegraph/expr/op.h"

namespace tilewright::kernel_ir {
namespace {

// The integers of a register: those of a thread's lanes side by side. One
// thread's are those of all, one lane's those of all lanes. None: not known.
struct Values {
  int lanes = 1;
  std::vector<int64_t> of;

  bool known() const { return !of.empty(); }
  bool of_threads() const { return of.size() > static_cast<size_t>(lanes); }
  int64_t At(int thread, int lane = 0) const {
    return of[static_cast<size_t>((of_threads() ? thread * lanes : 0) +
                                  (lanes > 1 ? lane : 0))];
  }
  void Forget() { of.clear(); }
};
using Active = ThreadVisitor::Active;

bool Any(const Active& active) {
  return std::find(active.begin(), active.end(), true) != active.end();
}

struct Turn {
  int64_t number = 0;
  double times = 1;
};

// `taken` of `all` turns: the first and the last stand for themselves, those
// between, spread without a period, for all others.
std::vector<Turn> TurnsOf(int64_t all, int64_t taken) {
  std::vector<Turn> turns;
  if (all <= taken || taken < 3) {
    taken = std::min(all, taken);
    for (int64_t i = 0; i < taken; ++i)
      turns.push_back({i * (all - 1) / std::max<int64_t>(1, taken - 1),
                       static_cast<double>(all) / static_cast<double>(taken)});
    return turns;
  }
  const int64_t between = all - 2, some = taken - 2;
  const int64_t step = SpreadStep(between);
  for (int64_t i = 0; i < some; ++i)
    turns.push_back({1 + (i + 1) * step % between,
                     static_cast<double>(between) / static_cast<double>(some)});
  turns.push_back({0, 1});
  turns.push_back({all - 1, 1});
  std::sort(turns.begin(), turns.end(),
            [](const Turn& a, const Turn& b) { return a.number < b.number; });
  return turns;
}

class Walker {
 public:
  Walker(const ScalarKernel& kernel, int64_t task, int64_t most_turns,
         ThreadVisitor& visitor)
      : kernel_(kernel),
        most_turns_(most_turns),
        visitor_(visitor),
        divisors_(kernel),
        values_(kernel.regs.size()),
        same_in_lanes_(kernel.regs.size()) {
    Values& thread = values_[kernel.thread];
    for (int t = 0; t < kernel.threads; ++t) thread.of.push_back(t);
    values_[kernel.task] = {1, {task}};
  }

  void Walk(const std::vector<Inst>& body, const Active& active, double times) {
    for (const Inst& inst : body) {
      visitor_.Visit(inst, active, times);
      const bool followed = std::visit(
          [&](const auto& n) { return One(n, active, times); }, inst.node);
      if (followed) continue;
      const Reg dst = Sets(inst);
      if (dst != kNoReg) values_[dst].Forget();
    }
  }

 private:
  bool IsInteger(Reg reg) const { return !IsFloat(kernel_.regs[reg].dtype); }

  int64_t ElementBytes(int buffer) const {
    return SizeBytes(kernel_.buffers[buffer].dtype);
  }
  // Whether the mask is one for all lanes of a vector.
  bool IsOneForAll(Reg mask) const {
    return mask == kNoReg || kernel_.regs[mask].lanes == 1 ||
           same_in_lanes_[mask];
  }

  void Access(int buffer, int lanes, int piece, Reg offset,
              int64_t constant_offset, Reg mask, int mask_lane,
              const Active& active, double times) {
    if (kernel_.buffers[buffer].per_thread) return;
    const Values& index = offset == kNoReg ? zero_ : values_[offset];
    const Values& masked = mask == kNoReg ? unknown_ : values_[mask];
    const int64_t elements = kernel_.buffers[buffer].elements;
    access_.buffer = buffer;
    access_.lanes = lanes;
    access_.piece = piece;
    std::vector<int64_t>& first = access_.first;
    first.resize(active.size());
    for (int t = 0; t < kernel_.threads; ++t)
      first[t] =
          (index.known() ? index.At(t) : int64_t{t % kernel_.warp} * lanes) +
          constant_offset;
    // What is outside is masked by something unknown.
    for (int t = 0; t < kernel_.threads; ++t)
      if (!active[t] || first[t] < 0 || first[t] >= elements)
        first[t] = ThreadAccess::kIdle;
    for (int t = 0; masked.known() && t < kernel_.threads; ++t)
      if (masked.At(t, mask_lane) == 0) first[t] = ThreadAccess::kIdle;
    visitor_.Access(access_, times);
  }
  // Of a load or store of vectors of `lanes`: whole, or element by element.
  template <typename Node>
  void AccessVector(const Node& n, int lanes, const Active& active,
                    double times) {
    const int elements = n.active > 0 ? n.active : lanes;
    if (IsOneForAll(n.mask)) {
      const int64_t bytes = ElementBytes(n.buffer);
      const int piece =
          IsInWidePieces(divisors_, lanes, n.active, bytes, n.offset,
                         n.constant_offset)
              ? PieceOf(divisors_, lanes, bytes, n.offset, n.constant_offset)
              : 1;
      Access(n.buffer, elements, piece, n.offset, n.constant_offset, n.mask, 0,
             active, times);
      return;
    }
    for (int e = 0; e < elements; ++e)
      Access(n.buffer, 1, 1, n.offset, n.constant_offset + e, n.mask, e, active,
             times);
  }

  // What the instruction does to values that are followed; of those that give
  // false, the result is not known.
  bool One(const LoadInst& n, const Active& active, double times) {
    AccessVector(n, kernel_.regs[n.dst].lanes, active, times);
    return false;
  }
  bool One(const StoreInst& n, const Active& active, double times) {
    AccessVector(n, kernel_.regs[n.value].lanes, active, times);
    return true;
  }
  bool One(const AsyncCopyInst& n, const Active& active, double times) {
    const int piece = PieceOf(divisors_, n, ElementBytes(n.to));
    Access(n.from, n.lanes, piece, n.from_offset, n.from_constant, n.mask, 0,
           active, times);
    Access(n.to, n.lanes, piece, n.to_offset, n.to_constant, kNoReg, 0, active,
           times);
    return true;
  }
  bool One(const ConstInst& n, const Active&, double) {
    same_in_lanes_[n.dst] = true;
    if (!IsInteger(n.dst)) return false;
    values_[n.dst].lanes = 1;
    values_[n.dst].of.assign(1, n.i);
    return true;
  }
  bool One(const CopyInst& n, const Active&, double) {
    values_[n.dst] = values_[n.source];
    return true;
  }
  bool One(const SplatInst& n, const Active&, double) {
    values_[n.dst] = values_[n.source];
    same_in_lanes_[n.dst] = true;
    return true;
  }
  bool One(const LaneInst& n, const Active&, double) {
    return Set(n.dst, {n.source}, 1,
               [&](int t, int) { return values_[n.source].At(t, n.lane); });
  }
  bool One(const InsertInst& n, const Active&, double) {
    return Set(n.dst, {n.source, n.value}, kernel_.regs[n.dst].lanes,
               [&](int t, int lane) {
                 return lane == n.lane ? values_[n.value].At(t)
                                       : values_[n.source].At(t, lane);
               });
  }
  bool One(const ShuffleInst& n, const Active&, double) {
    const int of_a = kernel_.regs[n.a].lanes;
    return Set(n.dst, {n.a, n.b}, kernel_.regs[n.dst].lanes,
               [&](int t, int lane) {
                 const int from = n.lanes[static_cast<size_t>(lane)];
                 return from < of_a ? values_[n.a].At(t, from)
                                    : values_[n.b].At(t, from - of_a);
               });
  }
  bool One(const OpInst& n, const Active&, double) {
    int lanes = 1;
    for (const Reg operand : n.operands)
      if (values_[operand].known())
        lanes = std::max(lanes, values_[operand].lanes);
    const DType dtype = kernel_.regs[n.operands.back()].dtype;
    const Values& first = values_[n.operands.front()];
    const Values& second =
        n.operands.size() > 1 ? values_[n.operands[1]] : zero_;
    return Set(n.dst, n.operands, lanes, [&](int t, int lane) {
      if (n.op == Op::kSelect)
        return first.At(t, lane) != 0 ? second.At(t, lane)
                                      : values_[n.operands[2]].At(t, lane);
      if (n.op == Op::kCast) return first.At(t, lane);
      return EvaluateIntegerOp(n.op, dtype, first.At(t, lane),
                               second.At(t, lane));
    });
  }
  // dst = value(thread, lane), if all operands are known.
  template <typename Value>
  bool Set(Reg dst, absl::Span<const Reg> operands, int lanes, Value value) {
    bool of_threads = false;
    if (!IsInteger(dst)) return false;
    for (const Reg operand : operands) {
      if (!IsInteger(operand) || !values_[operand].known()) return false;
      of_threads = of_threads || values_[operand].of_threads();
    }
    const int threads = of_threads ? kernel_.threads : 1;
    result_.resize(static_cast<size_t>(threads * lanes));
    size_t at = 0;
    for (int t = 0; t < threads; ++t)
      for (int lane = 0; lane < lanes; ++lane) result_[at++] = value(t, lane);
    values_[dst].lanes = lanes;
    values_[dst].of.swap(result_);
    return true;
  }

  bool One(const ForInst& n, const Active& active, double times) {
    const Values begin = BoundOf(n.begin, n.constant_begin),
                 end = BoundOf(n.end, n.constant_end);
    values_[n.var] = begin;
    if (!begin.known() || !end.known()) {
      Walk(n.body, active, times);
      return true;
    }
    // Threads leave as their bounds say; all others wait for the last.
    std::vector<int64_t> turns;
    int64_t most = 0;
    for (int t = 0; t < kernel_.threads; ++t) {
      turns.push_back(
          CeilDiv(std::max<int64_t>(0, end.At(t) - begin.At(t)), n.step));
      if (active[t]) most = std::max(most, turns.back());
    }
    if (most == 0) return true;
    for (const Turn& turn : TurnsOf(most, most_turns_)) {
      Active inside = active;
      for (int t = 0; t < kernel_.threads; ++t)
        inside[t] = active[t] && turn.number < turns[t];
      values_[n.var] = begin;
      for (int64_t& value : values_[n.var].of) value += turn.number * n.step;
      Walk(n.body, inside, times * turn.times);
    }
    return true;
  }
  bool One(const IfInst& n, const Active& active, double times) {
    const Values condition = values_[n.condition];
    Active yes = active, no = active;
    for (int t = 0; condition.known() && t < kernel_.threads; ++t) {
      yes[t] = active[t] && condition.At(t) != 0;
      no[t] = active[t] && condition.At(t) == 0;
    }
    if (Any(yes)) Walk(n.then_body, yes, times);
    if (Any(no)) Walk(n.else_body, no, times);
    return true;
  }
  template <typename Node>
  bool One(const Node&, const Active&, double) {
    return false;
  }

  Values BoundOf(Reg reg, int64_t constant) const {
    return reg == kNoReg ? Values{1, {constant}} : values_[reg];
  }

  const ScalarKernel& kernel_;
  const int64_t most_turns_;
  ThreadVisitor& visitor_;
  const Divisors divisors_;
  const Values zero_{1, {0}}, unknown_;
  std::vector<Values> values_;       // by register
  std::vector<bool> same_in_lanes_;  // written as one for all
  // Of what is walked at the moment: their memory is used again.
  ThreadAccess access_;
  std::vector<int64_t> result_;
};

}  // namespace

double ActiveWarps(const Active& active) {
  double warps = 0;
  for (size_t first = 0; first < active.size(); first += kWarpLanes) {
    const auto begin = active.begin() + static_cast<int64_t>(first);
    const auto end = active.begin() + static_cast<int64_t>(std::min(
                                          first + kWarpLanes, active.size()));
    warps += std::find(begin, end, true) != end;
  }
  return warps;
}

void WalkThreads(const ScalarKernel& kernel, int64_t task, int64_t most_turns,
                 ThreadVisitor& visitor) {
  Walker(kernel, task, most_turns, visitor)
      .Walk(kernel.body, Active(static_cast<size_t>(kernel.threads), true), 1);
}

}  // namespace tilewright::kernel_ir
