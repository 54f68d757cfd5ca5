#include "bench/gpu/block_work.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "backends/kernel_ir/operands.h"
#include "base/ceil_div.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/integer_op.h"
#include "tilegraph/expr/op.h"

namespace tilewright {
namespace {

using namespace kernel_ir;  // NOLINT: its instructions are what is counted

constexpr int64_t kWarp = 32;
constexpr int64_t kAccessBytes = 16;  // the widest access of a thread

class Counter {
 public:
  Counter(const ScalarKernel& kernel, const Banks& banks, int64_t sector_bytes)
      : kernel_(kernel),
        banks_(banks),
        sector_bytes_(sector_bytes),
        values_(kernel.regs.size()),
        loaded_(kernel.regs.size()),
        kept_(kernel.buffers.size()) {
    Threads& thread = values_[kernel.thread].emplace();
    for (int t = 0; t < kernel.threads; ++t) thread.push_back(t);
    values_[kernel.task] = Threads(kernel.threads, 0);
  }

  BlockWork Count() {
    Walk(kernel_.body, Active(kernel_.threads, true), 1);
    EndStretch(1);
    return work_;
  }

 private:
  using Threads = std::vector<int64_t>;  // a value of each
  using Active = std::vector<bool>;
  using Body = std::vector<Inst>;

  static bool Any(const Active& active) {
    return std::find(active.begin(), active.end(), true) != active.end();
  }
  double ActiveWarps(const Active& active) const {
    double warps = 0;
    for (size_t first = 0; first < active.size(); first += kWarp)
      warps += std::find(active.begin() + first, WarpEnd(active, first),
                         true) != WarpEnd(active, first);
    return warps;
  }
  static Active::const_iterator WarpEnd(const Active& active, size_t first) {
    return active.begin() + std::min(first + kWarp, active.size());
  }

  void Walk(const Body& body, const Active& active, double times) {
    for (const Inst& inst : body) {
      UseLoaded(inst);
      std::visit([&](const auto& n) { One(n, active, times); }, inst.node);
    }
  }

  // What waits for memory: every reader of a loaded value but those that only
  // keep it for later.
  void UseLoaded(const Inst& inst) {
    const bool keeps =
        std::holds_alternative<CopyInst>(inst.node) ||
        (std::holds_alternative<StoreInst>(inst.node) &&
         kernel_.buffers[std::get<StoreInst>(inst.node).buffer].per_thread);
    for (const Reg reg : Reads(inst)) {
      if (!loaded_[reg]) continue;
      if (keeps) {
        if (const auto* copy = std::get_if<CopyInst>(&inst.node)) {
          loaded_[copy->dst] = loaded_[reg];
        } else {
          kept_[std::get<StoreInst>(inst.node).buffer] = loaded_[reg];
        }
        continue;
      }
      (*loaded_[reg] < fmas_seen_ ? covered_ : waits_) = true;
    }
  }
  void EndStretch(double times) {
    if (waits_) work_.waits += times;
    if (covered_ && !waits_) work_.covered_waits += times;
    waits_ = covered_ = false;
  }

  void Access(int buffer, Reg offset, int64_t constant_offset, int lanes,
              Reg mask, const Active& active, double times) {
    const ScalarBuffer& of = kernel_.buffers[buffer];
    if (of.per_thread) return;
    const int64_t bytes = SizeBytes(of.dtype);
    const std::optional<Threads> zero = Threads(kernel_.threads, 0);
    const std::optional<Threads>& index =
        offset == kNoReg ? zero : values_[offset];
    const std::optional<Threads> none;
    const std::optional<Threads>& masked =
        mask == kNoReg || kernel_.regs[mask].lanes > 1 ? none : values_[mask];
    for (int64_t first = 0; first < kernel_.threads; first += kWarp) {
      WarpAccess access;
      for (int64_t t = first;
           t < std::min<int64_t>(first + kWarp, kernel_.threads); ++t) {
        const bool takes_part = active[t] && (!masked || (*masked)[t] != 0);
        const int64_t element =
            (index ? (*index)[t] + constant_offset : (t - first) * lanes);
        access.offset_bytes.push_back(
            takes_part ? std::max<int64_t>(0, of.scratch_offset_bytes) +
                             element * bytes
                       : WarpAccess::kIdle);
      }
      AddAccess(of.role == Role::kLocal, access, lanes * bytes, bytes, times);
    }
  }
  // `whole_bytes` of each lane, in accesses as wide as its address allows.
  void AddAccess(bool shared, WarpAccess access, int64_t whole_bytes,
                 int64_t element_bytes, double times) {
    access.bytes = std::min(whole_bytes, kAccessBytes);
    const bool aligned =
        whole_bytes % access.bytes == 0 &&
        std::all_of(access.offset_bytes.begin(), access.offset_bytes.end(),
                    [&](int64_t offset) {
                      return offset == WarpAccess::kIdle ||
                             offset % access.bytes == 0;
                    });
    if (!aligned) access.bytes = element_bytes;
    if (!shared) {
      // The parts of a lane lie in the same sectors.
      access.bytes = whole_bytes;
      work_.sectors +=
          times * static_cast<double>(Sectors(access, sector_bytes_));
      return;
    }
    for (int64_t part = 0; part < whole_bytes; part += access.bytes) {
      work_.shared_turns +=
          times * static_cast<double>(BankPasses(access, banks_));
      work_.least_shared_turns +=
          times * static_cast<double>(LeastBankPasses(access, banks_));
      for (int64_t& offset : access.offset_bytes)
        if (offset != WarpAccess::kIdle) offset += access.bytes;
    }
  }

  void One(const LoadInst& n, const Active& active, double times) {
    Access(n.buffer, n.offset, n.constant_offset,
           n.active > 0 ? n.active : kernel_.regs[n.dst].lanes, n.mask, active,
           times);
    const ScalarBuffer& buffer = kernel_.buffers[n.buffer];
    values_[n.dst].reset();
    loaded_[n.dst].reset();
    if (buffer.per_thread) {
      loaded_[n.dst] = kept_[n.buffer];
    } else if (buffer.role != Role::kLocal) {
      loaded_[n.dst] = fmas_seen_;
    }
  }
  void One(const StoreInst& n, const Active& active, double times) {
    Access(n.buffer, n.offset, n.constant_offset,
           n.active > 0 ? n.active : kernel_.regs[n.value].lanes, n.mask,
           active, times);
  }
  void One(const AsyncCopyInst& n, const Active& active, double times) {
    Access(n.from, n.from_offset, n.from_constant, n.lanes, n.mask, active,
           times);
    Access(n.to, n.to_offset, n.to_constant, n.lanes, kNoReg, active, times);
  }
  void One(const FmaInst& n, const Active& active, double times) {
    const RegType& type = kernel_.regs[n.dst];
    ++fmas_seen_;
    if (type.dtype == DType::kFloat32)
      work_.warp_fmas += times * ActiveWarps(active) * type.lanes;
    Forget(n.dst);
  }
  void One(const BarrierInst&, const Active&, double times) {
    EndStretch(times);
  }
  void One(const ConstInst& n, const Active&, double) {
    Forget(n.dst);
    if (IsIndex(n.dst)) values_[n.dst] = Threads(kernel_.threads, n.i);
  }
  void One(const CopyInst& n, const Active&, double) {
    values_[n.dst] = values_[n.source];
  }
  void One(const OpInst& n, const Active&, double) {
    Forget(n.dst);
    if (!IsIndex(n.dst)) return;
    for (const Reg operand : n.operands)
      if (!IsIndex(operand) || !values_[operand]) return;
    Threads result;
    for (int t = 0; t < kernel_.threads; ++t) {
      const auto value = [&](size_t i) { return (*values_[n.operands[i]])[t]; };
      if (n.op == Op::kSelect) {
        result.push_back(value(0) != 0 ? value(1) : value(2));
      } else if (n.op == Op::kCast) {
        result.push_back(value(0));
      } else {
        result.push_back(
            EvaluateIntegerOp(n.op, kernel_.regs[n.operands.back()].dtype,
                              value(0), n.operands.size() > 1 ? value(1) : 0));
      }
    }
    values_[n.dst] = std::move(result);
  }
  void One(const ForInst& n, const Active& active, double times) {
    const auto bound = [&](Reg reg, int64_t constant) {
      return reg == kNoReg
                 ? std::optional<Threads>(Threads(kernel_.threads, constant))
                 : values_[reg];
    };
    const std::optional<Threads> begin = bound(n.begin, n.constant_begin);
    const std::optional<Threads> end = bound(n.end, n.constant_end);
    values_[n.var] = begin;
    if (!begin || !end) return Walk(n.body, active, times);
    // Threads leave as their bounds say; all others wait for the last.
    int64_t most = 0;
    Active inside = active;
    for (int t = 0; t < kernel_.threads; ++t) {
      const int64_t turns =
          CeilDiv(std::max<int64_t>(0, (*end)[t] - (*begin)[t]), n.step);
      inside[t] = active[t] && turns > 0;
      if (active[t]) most = std::max(most, turns);
    }
    if (most > 0) Walk(n.body, inside, times * static_cast<double>(most));
  }
  void One(const IfInst& n, const Active& active, double times) {
    const std::optional<Threads> condition = values_[n.condition];
    Active yes = active, no = active;
    for (int t = 0; condition && t < kernel_.threads; ++t) {
      yes[t] = active[t] && (*condition)[t] != 0;
      no[t] = active[t] && (*condition)[t] == 0;
    }
    if (Any(yes)) Walk(n.then_body, yes, times);
    if (Any(no)) Walk(n.else_body, no, times);
  }
  // All others give values that no index is made of.
  template <typename Node>
  void One(const Node& n, const Active&, double) {
    const Reg dst = Sets(Inst{n});
    if (dst != kNoReg) Forget(dst);
  }

  bool IsIndex(Reg reg) const {
    const RegType& type = kernel_.regs[reg];
    return type.lanes == 1 && !IsFloat(type.dtype);
  }
  void Forget(Reg reg) {
    values_[reg].reset();
    loaded_[reg].reset();
  }

  const ScalarKernel& kernel_;
  const Banks banks_;
  const int64_t sector_bytes_;
  BlockWork work_;
  std::vector<std::optional<Threads>> values_;  // where known
  // By register, and by buffer of a thread's own: of what was loaded from
  // memory, the multiply-adds seen by then.
  std::vector<std::optional<int64_t>> loaded_, kept_;
  int64_t fmas_seen_ = 0;
  bool waits_ = false, covered_ = false;  // in this stretch
};

}  // namespace

BlockWork CountBlockWork(const ScalarKernel& kernel, const Banks& banks,
                         int64_t sector_bytes) {
  return Counter(kernel, banks, sector_bytes).Count();
}

}  // namespace tilewright
