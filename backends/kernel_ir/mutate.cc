#include "backends/kernel_ir/mutate.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"

namespace tilewright::kernel_ir {
namespace {

// A change of one instruction, in place; without `apply` the instruction goes.
struct Change {
  std::string kind;
  std::function<void(Inst&)> apply;
};

// What the registers of a kernel are used for, so that changes hit what
// matters.
struct Uses {
  std::set<Reg> factors;  // of an i64 or i32 product
  std::set<Reg> initial;  // copied into a variable or stored
  std::set<Reg> limits;   // integers that others are compared with
  std::set<Reg> moduli;   // divisors: of rings, of numbers of tasks
};

void ForEachInst(
    std::vector<Inst>& body, int& position,
    const std::function<void(int, std::vector<Inst>&, size_t)>& fn) {
  for (size_t i = 0; i < body.size(); ++i) {
    const int here = ++position;
    if (ForInst* loop = std::get_if<ForInst>(&body[i].node)) {
      ForEachInst(loop->body, position, fn);
    } else if (IfInst* branch = std::get_if<IfInst>(&body[i].node)) {
      ForEachInst(branch->then_body, position, fn);
      ForEachInst(branch->else_body, position, fn);
    }
    fn(here, body, i);
  }
}

void AddUses(const ScalarKernel& kernel, const OpInst& op, Uses& uses) {
  if (!IsInteger(kernel.regs[op.operands[0]].dtype)) return;
  switch (op.op) {
    case Op::kMul:
      uses.factors.insert(op.operands.begin(), op.operands.end());
      break;
    case Op::kFloorDiv:
    case Op::kFloorMod:
      uses.moduli.insert(op.operands[1]);
      break;
    case Op::kMin:
    case Op::kMax:
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe:
    case Op::kGt:
    case Op::kGe:
      uses.limits.insert(op.operands.begin(), op.operands.end());
      break;
    default:
      break;
  }
}

Uses FindUses(ScalarKernel& kernel) {
  Uses uses;
  int position = 0;
  ForEachInst(kernel.body, position,
              [&](int, std::vector<Inst>& body, size_t i) {
                if (const OpInst* op = std::get_if<OpInst>(&body[i].node)) {
                  AddUses(kernel, *op, uses);
                } else if (const CopyInst* copy =
                               std::get_if<CopyInst>(&body[i].node)) {
                  uses.initial.insert(copy->source);
                } else if (const StoreInst* store =
                               std::get_if<StoreInst>(&body[i].node)) {
                  uses.initial.insert(store->value);
                } else if (const LoadInst* load =
                               std::get_if<LoadInst>(&body[i].node)) {
                  if (load->other != kNoReg) uses.initial.insert(load->other);
                }
              });
  return uses;
}

template <typename T, typename F>
Change Of(std::string kind, F change) {
  return {std::move(kind),
          [change](Inst& inst) { change(std::get<T>(inst.node)); }};
}

void AddLoop(const ForInst& n, std::vector<Change>& out) {
  if (n.end == kNoReg) {
    out.push_back(Of<ForInst>("last step skipped",
                              [](ForInst& l) { l.constant_end -= l.step; }));
    out.push_back(Of<ForInst>("one step too many",
                              [](ForInst& l) { l.constant_end += l.step; }));
  }
  if (n.begin == kNoReg)
    out.push_back(Of<ForInst>("first step skipped",
                              [](ForInst& l) { l.constant_begin += l.step; }));
  out.push_back(Of<ForInst>("step doubled", [](ForInst& l) { l.step *= 2; }));
}

void AddOp(const OpInst& n, DType operand, std::vector<Change>& out) {
  auto other_op = [&](Op op) {
    out.push_back(Of<OpInst>(absl::StrCat(std::string(Name(n.op)), " became ",
                                          std::string(Name(op))),
                             [op](OpInst& o) { o.op = op; }));
  };
  switch (n.op) {
    case Op::kAdd:
      other_op(Op::kSub);
      break;
    case Op::kMul:
      other_op(Op::kAdd);
      break;
    case Op::kMax:
      other_op(Op::kMin);
      break;
    case Op::kMin:
      other_op(Op::kMax);
      break;
    case Op::kLt:
      other_op(Op::kLe);
      break;
    case Op::kLe:
      other_op(Op::kLt);
      break;
    case Op::kGe:
      other_op(Op::kGt);
      break;
    case Op::kGt:
      other_op(Op::kGe);
      break;
    case Op::kAnd:
      if (operand == DType::kBool) other_op(Op::kOr);
      break;
    case Op::kSub:
    case Op::kDiv:
    case Op::kFloorDiv:
    case Op::kFloorMod:
      out.push_back(Of<OpInst>("operands swapped", [](OpInst& o) {
        std::swap(o.operands[0], o.operands[1]);
      }));
      break;
    case Op::kSelect:
      out.push_back(Of<OpInst>("branches swapped", [](OpInst& o) {
        std::swap(o.operands[1], o.operands[2]);
      }));
      break;
    default:
      break;
  }
}

// Whether all that a body stores goes to scratch, and something does.
bool FillsScratch(const ScalarKernel& kernel, const std::vector<Inst>& body) {
  bool fills = false, leaves = false;
  int position = 0;
  std::vector<Inst> walked = body;
  ForEachInst(walked, position, [&](int, std::vector<Inst>& inner, size_t i) {
    const StoreInst* store = std::get_if<StoreInst>(&inner[i].node);
    if (store == nullptr) return;
    const bool local = kernel.buffers[store->buffer].role == Role::kLocal;
    (local ? fills : leaves) = true;
  });
  return fills && !leaves;
}

// The next scratch buffer of that type; -1 if `buffer` is no scratch or alone.
int OtherScratch(const ScalarKernel& kernel, int buffer) {
  const int count = static_cast<int>(kernel.buffers.size());
  const auto& of = kernel.buffers[buffer];
  if (of.role != Role::kLocal) return -1;
  for (int i = 1; i < count; ++i) {
    const int other = (buffer + i) % count;
    if (kernel.buffers[other].role == Role::kLocal &&
        kernel.buffers[other].dtype == of.dtype)
      return other;
  }
  return -1;
}

std::vector<Change> ChangesOf(const ScalarKernel& kernel, const Uses& uses,
                              const Inst& inst) {
  std::vector<Change> out;
  if (const ForInst* loop = std::get_if<ForInst>(&inst.node)) {
    AddLoop(*loop, out);
    if (FillsScratch(kernel, loop->body))
      out.push_back({"scratch not filled", nullptr});
  } else if (const OpInst* op = std::get_if<OpInst>(&inst.node)) {
    AddOp(*op, kernel.regs[op->operands.back()].dtype, out);
  } else if (const ConstInst* constant = std::get_if<ConstInst>(&inst.node)) {
    if (uses.factors.count(constant->dst) > 0)
      out.push_back(
          Of<ConstInst>("stride off by one", [](ConstInst& c) { c.i += 1; }));
    if (uses.limits.count(constant->dst) > 0) {
      out.push_back(
          Of<ConstInst>("limit one too large", [](ConstInst& c) { c.i += 1; }));
      out.push_back(
          Of<ConstInst>("limit one too small", [](ConstInst& c) { c.i -= 1; }));
    }
    if (uses.moduli.count(constant->dst) > 0)
      out.push_back(
          Of<ConstInst>("divisor off by one", [](ConstInst& c) { c.i += 1; }));
    if (uses.initial.count(constant->dst) > 0) {
      out.push_back(Of<ConstInst>("initial value changed", [](ConstInst& c) {
        c.f = c.f == 0 ? 1 : -c.f;
        c.i = static_cast<int64_t>(static_cast<uint64_t>(c.i) + 1);
      }));
    }
  } else if (std::holds_alternative<FmaInst>(inst.node)) {
    out.push_back(
        Of<FmaInst>("factor replaced", [](FmaInst& f) { f.a = f.b; }));
  } else if (std::holds_alternative<ScaleInst>(inst.node)) {
    out.push_back(Of<ScaleInst>("not scaled", [](ScaleInst& s) { s.n = s.a; }));
  } else if (std::holds_alternative<LookupInst>(inst.node)) {
    out.push_back(Of<LookupInst>("table rotated", [](LookupInst& l) {
      std::rotate(l.values.begin(), l.values.begin() + 1, l.values.end());
    }));
  } else if (std::holds_alternative<DotInst>(inst.node)) {
    out.push_back({"dot dropped", nullptr});
  } else if (const LoadInst* load = std::get_if<LoadInst>(&inst.node)) {
    out.push_back(Of<LoadInst>("offset one too far",
                               [](LoadInst& l) { l.constant_offset += 1; }));
    out.push_back(Of<LoadInst>("offset one too near",
                               [](LoadInst& l) { l.constant_offset -= 1; }));
    const int other = OtherScratch(kernel, load->buffer);
    if (other >= 0)
      out.push_back(Of<LoadInst>("other scratch read",
                                 [other](LoadInst& l) { l.buffer = other; }));
    if (load->mask != kNoReg)
      out.push_back(
          Of<LoadInst>("mask dropped", [](LoadInst& l) { l.mask = kNoReg; }));
    if (load->active > 0)
      out.push_back(Of<LoadInst>("active lanes ignored",
                                 [](LoadInst& l) { l.active = 0; }));
  } else if (const StoreInst* store = std::get_if<StoreInst>(&inst.node)) {
    out.push_back(Of<StoreInst>("store one too far", [](StoreInst& s) {
      s.constant_offset += 1;
      s.streaming = false;
    }));
    out.push_back(Of<StoreInst>("store one too near", [](StoreInst& s) {
      s.constant_offset -= 1;
      s.streaming = false;
    }));
    out.push_back({"store dropped", nullptr});
    if (store->mask != kNoReg)
      out.push_back(
          Of<StoreInst>("mask dropped", [](StoreInst& s) { s.mask = kNoReg; }));
    if (store->active > 0)
      out.push_back(Of<StoreInst>("active lanes ignored",
                                  [](StoreInst& s) { s.active = 0; }));
    const int lanes =
        store->active > 0 ? store->active : kernel.regs[store->value].lanes;
    if (lanes > 1)
      out.push_back(
          Of<StoreInst>("last lane not stored", [lanes](StoreInst& s) {
            s.active = lanes - 1;
            s.streaming = false;
          }));
  } else if (std::holds_alternative<IfInst>(inst.node)) {
    out.push_back(Of<IfInst>("branches swapped", [](IfInst& i) {
      std::swap(i.then_body, i.else_body);
    }));
    out.push_back(Of<IfInst>("always taken",
                             [](IfInst& i) { i.else_body = i.then_body; }));
    out.push_back(Of<IfInst>("never taken",
                             [](IfInst& i) { i.then_body = i.else_body; }));
  } else if (const LaneInst* lane = std::get_if<LaneInst>(&inst.node)) {
    const int lanes = kernel.regs[lane->source].lanes;
    if (lanes > 1)
      out.push_back(Of<LaneInst>("lane off by one", [lanes](LaneInst& l) {
        l.lane = (l.lane + 1) % lanes;
      }));
  } else if (const ShuffleInst* shuffle =
                 std::get_if<ShuffleInst>(&inst.node)) {
    const int lanes = kernel.regs[shuffle->a].lanes;
    out.push_back(
        Of<ShuffleInst>("shuffled lane off by one", [lanes](ShuffleInst& s) {
          s.lanes[0] = (s.lanes[0] + 1) % (2 * lanes);
        }));
    out.push_back(Of<ShuffleInst>(
        "two shuffled lanes exchanged",
        [](ShuffleInst& s) { std::swap(s.lanes[0], s.lanes[1]); }));
    if (shuffle->a != shuffle->b)
      out.push_back(Of<ShuffleInst>("shuffle operands swapped",
                                    [](auto& s) { std::swap(s.a, s.b); }));
  }
  return out;
}

ScalarKernel Apply(const ScalarKernel& kernel, int target,
                   const Change& change) {
  ScalarKernel copy = kernel;
  int position = 0;
  bool done = false;
  ForEachInst(copy.body, position,
              [&](int here, std::vector<Inst>& body, size_t i) {
                if (here != target || done) return;
                done = true;
                if (change.apply != nullptr) {
                  change.apply(body[i]);
                } else {
                  body.erase(body.begin() + i);
                }
              });
  return copy;
}

// Scratch is filled by the first task alone: later ones find what that left.
ScalarKernel WithStaleScratch(const ScalarKernel& kernel, int target) {
  const Reg first = static_cast<Reg>(kernel.regs.size());
  const Reg is_first = first + 1;
  const Change guard = {"", [&](Inst& inst) {
                          IfInst branch{is_first, {}, {}};
                          branch.then_body.push_back(inst);
                          inst.node = std::move(branch);
                        }};
  ScalarKernel stale = Apply(kernel, target, guard);
  stale.regs.push_back({kernel.regs[kernel.task].dtype, 1, false, "first"});
  stale.regs.push_back({DType::kBool, 1, false, "is_first"});
  stale.body.insert(stale.body.begin(),
                    {Inst{ConstInst{first, 0, 0}},
                     Inst{OpInst{is_first, Op::kEq, {kernel.task, first}}}});
  return stale;
}

// Of every loop that fills scratch.
std::vector<Mutant> StaleMutants(const ScalarKernel& kernel) {
  std::vector<Mutant> mutants;
  ScalarKernel walked = kernel;
  int position = 0;
  ForEachInst(
      walked.body, position, [&](int here, std::vector<Inst>& body, size_t i) {
        const ForInst* loop = std::get_if<ForInst>(&body[i].node);
        if (loop != nullptr && FillsScratch(kernel, loop->body))
          mutants.push_back({absl::StrCat("instruction ", here,
                                          ": scratch of the task before"),
                             WithStaleScratch(kernel, here)});
      });
  return mutants;
}

}  // namespace

std::vector<Mutant> Mutants(const ScalarKernel& kernel, int count,
                            uint64_t seed) {
  ScalarKernel walked = kernel;
  const Uses uses = FindUses(walked);
  // Sites by kind, so that a kernel full of loads does not give mutants of
  // loads only.
  std::map<std::string, std::vector<std::pair<int, Change>>> sites;
  int position = 0;
  ForEachInst(walked.body, position,
              [&](int here, std::vector<Inst>& body, size_t i) {
                for (Change& change : ChangesOf(kernel, uses, body[i]))
                  sites[change.kind].push_back({here, std::move(change)});
              });

  std::vector<Mutant> mutants;
  if (kernel.num_tasks > 1 && count > 0) {
    mutants.push_back({"the last task skipped", kernel});
    --mutants.back().kernel.num_tasks;
  }
  Random random(seed);
  std::vector<Mutant> stale = StaleMutants(kernel);
  while (!stale.empty() && static_cast<int>(mutants.size()) * 6 < count) {
    const auto pick = stale.begin() + random.Index(stale.size());
    if (VerifyScalarKernel(pick->kernel).ok())
      mutants.push_back(std::move(*pick));
    stale.erase(pick);
  }
  while (static_cast<int>(mutants.size()) < count && !sites.empty()) {
    for (auto kind = sites.begin();
         kind != sites.end() && static_cast<int>(mutants.size()) < count;) {
      const size_t pick = random.Index(kind->second.size());
      const auto [at, change] = kind->second[pick];
      kind->second.erase(kind->second.begin() + pick);
      Mutant mutant{absl::StrCat("instruction ", at, ": ", change.kind),
                    Apply(kernel, at, change)};
      if (VerifyScalarKernel(mutant.kernel).ok())
        mutants.push_back(std::move(mutant));
      kind = kind->second.empty() ? sites.erase(kind) : std::next(kind);
    }
  }
  return mutants;
}

}  // namespace tilewright::kernel_ir
