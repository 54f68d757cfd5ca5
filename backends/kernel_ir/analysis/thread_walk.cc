#include "backends/kernel_ir/analysis/thread_walk.h"

#include <algorithm>
#include <cstddef>
#include <optional>
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
// thread's are those of all, one lane's those of all lanes.
struct Values {
  int lanes = 1;
  std::vector<int64_t> of;

  bool of_threads() const { return of.size() > static_cast<size_t>(lanes); }
  int64_t At(int thread, int lane = 0) const {
    return of[static_cast<size_t>((of_threads() ? thread * lanes : 0) +
                                  (lanes > 1 ? lane : 0))];
  }
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
    Values& thread = values_[kernel.thread].emplace();
    for (int t = 0; t < kernel.threads; ++t) thread.of.push_back(t);
    values_[kernel.task] = Values{1, {task}};
  }

  void Walk(const std::vector<Inst>& body, const Active& active, double times) {
    for (const Inst& inst : body) {
      visitor_.Visit(inst, active, times);
      std::visit([&](const auto& n) { One(n, active, times); }, inst.node);
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

  void Access(ThreadAccess access, Reg offset, int64_t constant_offset,
              Reg mask, int mask_lane, const Active& active, double times) {
    if (kernel_.buffers[access.buffer].per_thread) return;
    const std::optional<Values>& index =
        offset == kNoReg ? zero_ : values_[offset];
    const std::optional<Values>& masked =
        mask == kNoReg ? unknown_ : values_[mask];
    const int64_t elements = kernel_.buffers[access.buffer].elements;
    access.first.reserve(active.size());
    for (int t = 0; t < kernel_.threads; ++t) {
      const int64_t first =
          (index ? index->At(t) : int64_t{t % kernel_.warp} * access.lanes) +
          constant_offset;
      // What is outside is masked by something unknown.
      const bool takes_part = active[t] &&
                              (!masked || masked->At(t, mask_lane) != 0) &&
                              first >= 0 && first < elements;
      access.first.push_back(takes_part ? first : ThreadAccess::kIdle);
    }
    visitor_.Access(access, times);
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
      Access({n.buffer, elements, piece, {}}, n.offset, n.constant_offset,
             n.mask, 0, active, times);
      return;
    }
    for (int e = 0; e < elements; ++e)
      Access({n.buffer, 1, 1, {}}, n.offset, n.constant_offset + e, n.mask, e,
             active, times);
  }

  void One(const LoadInst& n, const Active& active, double times) {
    AccessVector(n, kernel_.regs[n.dst].lanes, active, times);
    values_[n.dst].reset();
  }
  void One(const StoreInst& n, const Active& active, double times) {
    AccessVector(n, kernel_.regs[n.value].lanes, active, times);
  }
  void One(const AsyncCopyInst& n, const Active& active, double times) {
    const int piece = PieceOf(divisors_, n, ElementBytes(n.to));
    Access({n.from, n.lanes, piece, {}}, n.from_offset, n.from_constant, n.mask,
           0, active, times);
    Access({n.to, n.lanes, piece, {}}, n.to_offset, n.to_constant, kNoReg, 0,
           active, times);
  }
  void One(const ConstInst& n, const Active&, double) {
    values_[n.dst].reset();
    if (IsInteger(n.dst)) values_[n.dst] = Values{1, {n.i}};
    same_in_lanes_[n.dst] = true;
  }
  void One(const CopyInst& n, const Active&, double) {
    values_[n.dst] = values_[n.source];
  }
  void One(const SplatInst& n, const Active&, double) {
    values_[n.dst] = values_[n.source];
    same_in_lanes_[n.dst] = true;
  }
  void One(const LaneInst& n, const Active&, double) {
    Set(n.dst, {n.source}, 1,
        [&](int t, int) { return values_[n.source]->At(t, n.lane); });
  }
  void One(const InsertInst& n, const Active&, double) {
    Set(n.dst, {n.source, n.value}, kernel_.regs[n.dst].lanes,
        [&](int t, int lane) {
          return lane == n.lane ? values_[n.value]->At(t)
                                : values_[n.source]->At(t, lane);
        });
  }
  void One(const ShuffleInst& n, const Active&, double) {
    const int of_a = kernel_.regs[n.a].lanes;
    Set(n.dst, {n.a, n.b}, kernel_.regs[n.dst].lanes, [&](int t, int lane) {
      const int from = n.lanes[static_cast<size_t>(lane)];
      return from < of_a ? values_[n.a]->At(t, from)
                         : values_[n.b]->At(t, from - of_a);
    });
  }
  void One(const OpInst& n, const Active&, double) {
    int lanes = 1;
    for (const Reg operand : n.operands)
      if (values_[operand]) lanes = std::max(lanes, values_[operand]->lanes);
    const DType dtype = kernel_.regs[n.operands.back()].dtype;
    Set(n.dst, n.operands, lanes, [&](int t, int lane) {
      const auto value = [&](size_t i) {
        return values_[n.operands[i]]->At(t, lane);
      };
      if (n.op == Op::kSelect) return value(0) != 0 ? value(1) : value(2);
      if (n.op == Op::kCast) return value(0);
      return EvaluateIntegerOp(n.op, dtype, value(0),
                               n.operands.size() > 1 ? value(1) : 0);
    });
  }
  // dst = value(thread, lane), if all operands are known.
  template <typename Value>
  void Set(Reg dst, absl::Span<const Reg> operands, int lanes, Value value) {
    bool known = IsInteger(dst), of_threads = false;
    for (const Reg operand : operands) {
      known = known && IsInteger(operand) && values_[operand];
      of_threads = of_threads || (known && values_[operand]->of_threads());
    }
    if (!known) return values_[dst].reset();
    Values result{lanes, {}};
    const int threads = of_threads ? kernel_.threads : 1;
    result.of.reserve(static_cast<size_t>(threads * lanes));
    for (int t = 0; t < threads; ++t)
      for (int lane = 0; lane < lanes; ++lane)
        result.of.push_back(value(t, lane));
    values_[dst] = std::move(result);
  }

  void One(const ForInst& n, const Active& active, double times) {
    const std::optional<Values> begin = BoundOf(n.begin, n.constant_begin),
                                end = BoundOf(n.end, n.constant_end);
    values_[n.var] = begin;
    if (!begin || !end) return Walk(n.body, active, times);
    // Threads leave as their bounds say; all others wait for the last.
    std::vector<int64_t> turns;
    int64_t most = 0;
    for (int t = 0; t < kernel_.threads; ++t) {
      turns.push_back(
          CeilDiv(std::max<int64_t>(0, end->At(t) - begin->At(t)), n.step));
      if (active[t]) most = std::max(most, turns.back());
    }
    if (most == 0) return;
    for (const Turn& turn : TurnsOf(most, most_turns_)) {
      Active inside = active;
      for (int t = 0; t < kernel_.threads; ++t)
        inside[t] = active[t] && turn.number < turns[t];
      Values var = *begin;
      for (int64_t& value : var.of) value += turn.number * n.step;
      values_[n.var] = std::move(var);
      Walk(n.body, inside, times * turn.times);
    }
  }
  void One(const IfInst& n, const Active& active, double times) {
    const std::optional<Values> condition = values_[n.condition];
    Active yes = active, no = active;
    for (int t = 0; condition && t < kernel_.threads; ++t) {
      yes[t] = active[t] && condition->At(t) != 0;
      no[t] = active[t] && condition->At(t) == 0;
    }
    if (Any(yes)) Walk(n.then_body, yes, times);
    if (Any(no)) Walk(n.else_body, no, times);
  }
  // Of all others the values are not followed.
  template <typename Node>
  void One(const Node& n, const Active&, double) {
    const Reg dst = Sets(Inst{n});
    if (dst != kNoReg) values_[dst].reset();
  }

  std::optional<Values> BoundOf(Reg reg, int64_t constant) const {
    return reg == kNoReg ? Values{1, {constant}} : values_[reg];
  }

  const ScalarKernel& kernel_;
  const int64_t most_turns_;
  ThreadVisitor& visitor_;
  const Divisors divisors_;
  const std::optional<Values> zero_ = Values{1, {0}}, unknown_;
  std::vector<std::optional<Values>> values_;  // by register, where known
  std::vector<bool> same_in_lanes_;            // written as one for all
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
