#include "backends/kernel_ir/mutate_changes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tilewright::kernel_ir::internal {
namespace {

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

void AddExchange(const ScalarKernel& kernel, const ExchangeInst& n,
                 std::vector<Change>& out) {
  out.push_back({"own lane instead of another's", [](Inst& inst) {
                   const ExchangeInst e = std::get<ExchangeInst>(inst.node);
                   inst.node = CopyInst{e.dst, e.source};
                 }});
  if (n.lane != kNoReg) {
    if (kernel.warp > 1)
      out.push_back(Of<ExchangeInst>("lane xor 1", [](ExchangeInst& e) {
        e.lane = kNoReg;
        e.lane_xor = 1;
      }));
    return;
  }
  // Another bit of it would do for a sum over all lanes.
  out.push_back(Of<ExchangeInst>("lane xor halved",
                                 [](ExchangeInst& e) { e.lane_xor /= 2; }));
  out.push_back(Of<ExchangeInst>("lane xor doubled",
                                 [warp = kernel.warp](ExchangeInst& e) {
                                   e.lane_xor = 2 * e.lane_xor % warp;
                                 }));
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

// Lists the changes of an instruction of each kind; the others have none.
struct ChangeLister {
  const ScalarKernel& kernel;
  const Uses& uses;
  std::vector<Change>& out;

  template <typename T>
  void operator()(const T&) const {}

  void operator()(const ForInst& loop) const {
    AddLoop(loop, out);
    if (FillsScratch(kernel, loop.body))
      out.push_back({"scratch not filled", nullptr});
  }

  void operator()(const OpInst& op) const {
    AddOp(op, kernel.regs[op.operands.back()].dtype, out);
  }

  void operator()(const ConstInst& constant) const {
    if (uses.factors.count(constant.dst) > 0)
      out.push_back(
          Of<ConstInst>("stride off by one", [](ConstInst& c) { c.i += 1; }));
    if (uses.limits.count(constant.dst) > 0) {
      out.push_back(
          Of<ConstInst>("limit one too large", [](ConstInst& c) { c.i += 1; }));
      out.push_back(
          Of<ConstInst>("limit one too small", [](ConstInst& c) { c.i -= 1; }));
    }
    if (uses.moduli.count(constant.dst) > 0)
      out.push_back(
          Of<ConstInst>("divisor off by one", [](ConstInst& c) { c.i += 1; }));
    if (uses.initial.count(constant.dst) > 0) {
      out.push_back(Of<ConstInst>("initial value changed", [](ConstInst& c) {
        c.f = c.f == 0 ? 1 : -c.f;
        c.i = static_cast<int64_t>(static_cast<uint64_t>(c.i) + 1);
      }));
    }
  }

  void operator()(const FmaInst&) const {
    out.push_back(
        Of<FmaInst>("factor replaced", [](FmaInst& f) { f.a = f.b; }));
  }
  void operator()(const ScaleInst&) const {
    out.push_back(Of<ScaleInst>("not scaled", [](ScaleInst& s) { s.n = s.a; }));
  }
  void operator()(const LookupInst&) const {
    out.push_back(Of<LookupInst>("table rotated", [](LookupInst& l) {
      std::rotate(l.values.begin(), l.values.begin() + 1, l.values.end());
    }));
  }
  void operator()(const PermuteInst&) const {
    out.push_back({"permute dropped", nullptr});
  }
  void operator()(const DotInst&) const {
    out.push_back({"dot dropped", nullptr});
  }

  void operator()(const LoadInst& load) const {
    out.push_back(Of<LoadInst>("offset one too far",
                               [](LoadInst& l) { l.constant_offset += 1; }));
    out.push_back(Of<LoadInst>("offset one too near",
                               [](LoadInst& l) { l.constant_offset -= 1; }));
    const int other = OtherScratch(kernel, load.buffer);
    if (other >= 0)
      out.push_back(Of<LoadInst>("other scratch read",
                                 [other](LoadInst& l) { l.buffer = other; }));
    AddMask(load);
  }

  void operator()(const StoreInst& store) const {
    out.push_back(Of<StoreInst>("store one too far", [](StoreInst& s) {
      s.constant_offset += 1;
      s.streaming = false;
    }));
    out.push_back(Of<StoreInst>("store one too near", [](StoreInst& s) {
      s.constant_offset -= 1;
      s.streaming = false;
    }));
    out.push_back({"store dropped", nullptr});
    AddMask(store);
    const int lanes =
        store.active > 0 ? store.active : kernel.regs[store.value].lanes;
    if (lanes > 1)
      out.push_back(
          Of<StoreInst>("last lane not stored", [lanes](StoreInst& s) {
            s.active = lanes - 1;
            s.streaming = false;
          }));
  }

  void operator()(const IfInst&) const {
    out.push_back(Of<IfInst>("branches swapped", [](IfInst& i) {
      std::swap(i.then_body, i.else_body);
    }));
    out.push_back(Of<IfInst>("always taken",
                             [](IfInst& i) { i.else_body = i.then_body; }));
    out.push_back(Of<IfInst>("never taken",
                             [](IfInst& i) { i.then_body = i.else_body; }));
  }

  void operator()(const BarrierInst&) const {
    out.push_back({"barrier dropped", nullptr});
  }
  void operator()(const AsyncCopyInst&) const {
    out.push_back(Of<AsyncCopyInst>("copied one too far", [](AsyncCopyInst& c) {
      c.to_constant += c.lanes;
    }));
    out.push_back(Of<AsyncCopyInst>(
        "copied from one too far",
        [](AsyncCopyInst& c) { c.from_constant += c.lanes; }));
    out.push_back({"copy dropped", nullptr});
  }
  void operator()(const CommitInst&) const {
    out.push_back({"commit dropped", nullptr});
  }
  void operator()(const WaitInst& wait) const {
    out.push_back({"wait dropped", nullptr});
    if (wait.pending < kMostPending)
      out.push_back(Of<WaitInst>("wait for one group less",
                                 [](WaitInst& w) { ++w.pending; }));
  }
  void operator()(const ExchangeInst& exchange) const {
    AddExchange(kernel, exchange, out);
  }
  void operator()(const LaneInst& lane) const {
    const int lanes = kernel.regs[lane.source].lanes;
    if (lanes > 1)
      out.push_back(Of<LaneInst>("lane off by one", [lanes](LaneInst& l) {
        l.lane = (l.lane + 1) % lanes;
      }));
  }

  void operator()(const ShuffleInst& shuffle) const {
    const int lanes = kernel.regs[shuffle.a].lanes;
    out.push_back(
        Of<ShuffleInst>("shuffled lane off by one", [lanes](ShuffleInst& s) {
          s.lanes[0] = (s.lanes[0] + 1) % (2 * lanes);
        }));
    out.push_back(Of<ShuffleInst>(
        "two shuffled lanes exchanged",
        [](ShuffleInst& s) { std::swap(s.lanes[0], s.lanes[1]); }));
    if (shuffle.a != shuffle.b)
      out.push_back(Of<ShuffleInst>("shuffle operands swapped",
                                    [](auto& s) { std::swap(s.a, s.b); }));
  }

 private:
  template <typename T>  // LoadInst or StoreInst
  void AddMask(const T& inst) const {
    if (inst.mask != kNoReg)
      out.push_back(Of<T>("mask dropped", [](T& i) { i.mask = kNoReg; }));
    if (inst.active > 0)
      out.push_back(Of<T>("active lanes ignored", [](T& i) { i.active = 0; }));
  }
};

}  // namespace

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

bool FillsScratch(const ScalarKernel& kernel, const std::vector<Inst>& body) {
  bool fills = false, leaves = false;
  int position = 0;
  std::vector<Inst> walked = body;
  ForEachInst(walked, position, [&](int, std::vector<Inst>& inner, size_t i) {
    if (std::holds_alternative<AsyncCopyInst>(inner[i].node)) fills = true;
    const StoreInst* store = std::get_if<StoreInst>(&inner[i].node);
    if (store == nullptr) return;
    const bool local = kernel.buffers[store->buffer].role == Role::kLocal;
    (local ? fills : leaves) = true;
  });
  return fills && !leaves;
}

std::vector<Change> ChangesOf(const ScalarKernel& kernel, const Uses& uses,
                              const Inst& inst) {
  std::vector<Change> changes;
  std::visit(ChangeLister{kernel, uses, changes}, inst.node);
  return changes;
}

}  // namespace tilewright::kernel_ir::internal
