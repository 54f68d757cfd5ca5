#include "backends/kernel_ir/analysis/verify_waits.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/kernel_ir/analysis/op_range.h"
#include "base/status_macros.h"
#include "tilegraph/expr/interval.h"

namespace tilewright::kernel_ir {
namespace {

// Iterations at either end of a long loop; what is left out between them is a
// multiple of all numbers up to 8, so that versions go on in turn.
constexpr int64_t kIterations = 32, kPeriod = 840;

template <typename Holds>
bool AnyOf(const std::vector<Inst>& body, const Holds& holds) {
  return std::any_of(body.begin(), body.end(), [&](const Inst& inst) {
    if (const auto* loop = std::get_if<ForInst>(&inst.node))
      return AnyOf(loop->body, holds);
    if (const auto* branch = std::get_if<IfInst>(&inst.node))
      return AnyOf(branch->then_body, holds) || AnyOf(branch->else_body, holds);
    return holds(inst);
  });
}
bool IsCopy(const Inst& inst) {
  return std::holds_alternative<AsyncCopyInst>(inst.node);
}
bool OrdersCopies(const Inst& inst) {
  return std::holds_alternative<CommitInst>(inst.node) ||
         std::holds_alternative<WaitInst>(inst.node);
}

class WaitVerifier {
 public:
  explicit WaitVerifier(const ScalarKernel& kernel)
      : k_(kernel), ranges_(kernel.regs.size()) {
    ranges_[k_.task] = {0, std::max<int64_t>(k_.num_tasks - 1, 0)};
    ranges_[k_.thread] = {0, k_.threads - 1};
  }

  absl::Status Body(const std::vector<Inst>& body, int position) {
    for (const Inst& inst : body) {
      ++position;
      TW_RETURN_IF_ERROR(One(inst, position));
      position += Inside(inst);
    }
    return absl::OkStatus();
  }

 private:
  // What is on its way to elements of a buffer, or has come since a barrier.
  struct Flight {
    int buffer;
    Interval elements;
    int64_t group;
    int position;  // of its instruction
    bool has_come = false;
  };

  // Instructions, and those of a loop or branch.
  static int Count(const std::vector<Inst>& body) {
    int count = 0;
    for (const Inst& inst : body) count += 1 + Inside(inst);
    return count;
  }
  static int Inside(const Inst& inst) {
    if (const auto* loop = std::get_if<ForInst>(&inst.node))
      return Count(loop->body);
    const auto* branch = std::get_if<IfInst>(&inst.node);
    return branch == nullptr
               ? 0
               : Count(branch->then_body) + Count(branch->else_body);
  }

  absl::Status Fault(int position, const std::string& what) const {
    return absl::InternalError(absl::StrCat(
        "scalar kernel ", k_.name, ": instruction ", position, ": ", what));
  }
  void Set(Reg reg, Interval range) {
    if (!k_.regs[reg].is_variable && k_.regs[reg].lanes == 1)
      ranges_[reg] = range;
  }
  Interval Of(Reg reg, int64_t otherwise) const {
    return reg == kNoReg ? Interval::Point(otherwise) : ranges_[reg];
  }
  // Those that an access may touch. Where a mask or branch keeps some threads
  // or lanes away, those that are left stay in the version that it begins in.
  Interval Elements(int buffer, Reg offset, int64_t constant, int lanes,
                    bool masked) const {
    const ScalarBuffer& b = k_.buffers[buffer];
    Interval range = Of(offset, 0) + Interval{constant, constant + lanes - 1};
    if (b.versions > 1 && (masked || branches_ > 0) && range.bounded()) {
      const int64_t part = b.elements / b.versions;
      range.hi =
          std::min(range.hi, FloorDivide(range.lo, part) * part + part - 1);
    }
    return range;
  }

  absl::Status One(const Inst& inst, int position) {
    if (const auto* op = std::get_if<OpInst>(&inst.node)) {
      Set(op->dst, RangeOf(*op));
      if (op_of_.emplace(op->dst, op).second) ops_.push_back(op);
    } else if (const auto* constant = std::get_if<ConstInst>(&inst.node)) {
      Set(constant->dst, Interval::Point(constant->i));
    } else if (const auto* load = std::get_if<LoadInst>(&inst.node)) {
      return Load(*load, position);
    } else if (const auto* copy = std::get_if<AsyncCopyInst>(&inst.node)) {
      flights_.push_back(
          {copy->to,
           Elements(copy->to, copy->to_offset, copy->to_constant, copy->lanes,
                    /*masked=*/false),
           commits_, position});
    } else if (std::holds_alternative<CommitInst>(inst.node)) {
      ++commits_;
    } else if (const auto* wait = std::get_if<WaitInst>(&inst.node)) {
      for (Flight& flight : flights_) {
        if (flight.group < commits_ - wait->pending) flight.has_come = true;
      }
    } else if (std::holds_alternative<BarrierInst>(inst.node)) {
      flights_.erase(std::remove_if(flights_.begin(), flights_.end(),
                                    [](const Flight& f) { return f.has_come; }),
                     flights_.end());
    } else if (const auto* loop = std::get_if<ForInst>(&inst.node)) {
      return Loop(*loop, position);
    } else if (const auto* branch = std::get_if<IfInst>(&inst.node)) {
      return Branch(*branch, position);
    }
    return absl::OkStatus();
  }

  Interval RangeOf(const OpInst& op) const {
    if (IsFloat(k_.regs[op.operands.back()].dtype)) return {};
    std::vector<Interval> operands;
    for (const Reg reg : op.operands) operands.push_back(ranges_[reg]);
    if (op.op == Op::kLt && operands[0].bounded() && operands[1].bounded()) {
      if (operands[0].hi < operands[1].lo) return Interval::Point(1);
      if (operands[0].lo >= operands[1].hi) return Interval::Point(0);
    }
    return RangeOfOp(op.op, operands);
  }

  // Where a condition holds: what it bounds, and what has been computed of
  // that.
  void Narrow(Reg condition) {
    Bound(condition);
    for (const OpInst* op : ops_) {
      Interval& range = ranges_[op->dst];
      if (k_.regs[op->dst].is_variable || k_.regs[op->dst].lanes > 1) continue;
      const Interval now = RangeOf(*op);
      const Interval both = {std::max(range.lo, now.lo),
                             std::min(range.hi, now.hi)};
      range = both.lo <= both.hi ? both : now;
    }
  }
  void Bound(Reg condition) {
    const auto found = op_of_.find(condition);
    if (found == op_of_.end()) return;
    const OpInst& op = *found->second;
    if (op.op == Op::kAnd) {
      for (const Reg reg : op.operands) Bound(reg);
    } else if (op.op == Op::kLt && !k_.regs[op.operands[0]].is_variable) {
      Interval& range = ranges_[op.operands[0]];
      const Interval below = ranges_[op.operands[1]];
      if (below.bounded()) range.hi = std::min(range.hi, below.hi - 1);
    }
  }

  absl::Status Load(const LoadInst& load, int position) const {
    const Interval elements =
        Elements(load.buffer, load.offset, load.constant_offset,
                 load.active > 0 ? load.active : k_.regs[load.dst].lanes,
                 load.mask != kNoReg);
    for (const Flight& flight : flights_) {
      if (flight.buffer != load.buffer || flight.elements.hi < elements.lo ||
          elements.hi < flight.elements.lo)
        continue;
      return Fault(position,
                   absl::StrCat("lost wait: a load of what instruction ",
                                flight.position, " copies to ",
                                k_.buffers[load.buffer].name,
                                flight.has_come ? ", without a barrier" : ""));
    }
    return absl::OkStatus();
  }

  absl::Status Loop(const ForInst& loop, int position) {
    const Interval begin = Of(loop.begin, loop.constant_begin),
                   end = Of(loop.end, loop.constant_end);
    if (!AnyOf(loop.body, OrdersCopies)) {
      Set(loop.var, begin.bounded() && end.bounded()
                        ? Interval{begin.lo, std::max(begin.lo, end.hi - 1)}
                        : Interval{});
      return Body(loop.body, position);
    }
    if (loop.begin != kNoReg || loop.end != kNoReg)
      return Fault(position, "a loop of unknown length commits or waits");
    const int64_t between =
        (loop.constant_end - loop.constant_begin) / loop.step - 2 * kIterations;
    for (int64_t i = loop.constant_begin, n = 1; i < loop.constant_end;
         i += loop.step, ++n) {
      Set(loop.var, Interval::Point(i));
      TW_RETURN_IF_ERROR(Body(loop.body, position));
      if (n == kIterations && between >= kPeriod)
        i += between / kPeriod * kPeriod * loop.step;
    }
    return absl::OkStatus();
  }

  absl::Status Branch(const IfInst& branch, int position) {
    const Interval condition = ranges_[branch.condition];
    const int behind = Count(branch.then_body);
    if (condition.lo == 1) return Body(branch.then_body, position);
    if (condition.hi == 0) return Body(branch.else_body, position + behind);
    // Either may come: what is on its way in one of them is.
    const std::vector<Flight> before = flights_;
    const std::vector<Interval> ranges = ranges_;
    const int64_t commits = commits_;
    ++branches_;
    Narrow(branch.condition);
    TW_RETURN_IF_ERROR(Body(branch.then_body, position));
    ranges_ = ranges;
    std::vector<Flight> then = std::move(flights_);
    const int64_t then_commits = commits_;
    flights_ = before;
    commits_ = commits;
    TW_RETURN_IF_ERROR(Body(branch.else_body, position + behind));
    --branches_;
    for (Flight& flight : then) {
      flight.group += commits_ - then_commits;  // as many have come since
      const bool known =
          std::any_of(flights_.begin(), flights_.end(), [&](const Flight& f) {
            return f.position == flight.position && f.group == flight.group &&
                   f.has_come == flight.has_come &&
                   f.elements.lo == flight.elements.lo &&
                   f.elements.hi == flight.elements.hi;
          });
      if (!known) flights_.push_back(flight);
    }
    return absl::OkStatus();
  }

  const ScalarKernel& k_;
  std::vector<Interval> ranges_;        // by register
  std::vector<const OpInst*> ops_;      // in the order of their first run
  std::map<Reg, const OpInst*> op_of_;  // by what it sets
  std::vector<Flight> flights_;
  int64_t commits_ = 0;
  int branches_ = 0;  // open ones that threads may take or not
};

}  // namespace

absl::Status VerifyWaits(const ScalarKernel& kernel) {
  if (!kernel.has_threads() || !AnyOf(kernel.body, IsCopy))
    return absl::OkStatus();
  return WaitVerifier(kernel).Body(kernel.body, 0);
}

}  // namespace tilewright::kernel_ir
