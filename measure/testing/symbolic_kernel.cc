#include "measure/testing/symbolic_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tilewright::measure {
namespace {

using namespace kernel_ir;  // NOLINT: every type of its instructions is used.

class Machine {
 public:
  Machine(const ScalarKernel& kernel, std::vector<std::vector<Term>> arguments,
          Terms& terms)
      : kernel_(kernel), terms_(terms), registers_(kernel.regs.size()) {
    size_t argument = 0;
    for (const ScalarBuffer& buffer : kernel.buffers) {
      Memory memory;
      const bool local = buffer.role == Role::kLocal;
      memory.tracked = local || buffer.role == Role::kOutput;
      memory.written.assign(buffer.elements, 0);
      memory.elements = local ? std::vector<Term>(buffer.elements)
                              : std::move(arguments[argument++]);
      memory_.push_back(std::move(memory));
    }
  }

  absl::Status RunTask(int64_t task) {
    ++task_mark_;
    registers_[kernel_.task] = {
        terms_.Const(kernel_.regs[kernel_.task].dtype, {0, task})};
    return Body(kernel_.body);
  }

  // Takes the memory of all arguments.
  std::vector<std::vector<Term>> Take() {
    std::vector<std::vector<Term>> result;
    for (size_t b = 0; b < memory_.size(); ++b) {
      if (kernel_.buffers[b].role != Role::kLocal)
        result.push_back(std::move(memory_[b].elements));
    }
    return result;
  }

 private:
  using Lanes = std::vector<Term>;
  struct Memory {
    bool tracked;
    std::vector<Term> elements;
    std::vector<int64_t> written;  // by which task, 0: none
  };

  const RegType& type(Reg reg) const { return kernel_.regs[reg]; }

  absl::StatusOr<int64_t> Integer(Reg reg, const char* what) const {
    const std::optional<Scalar> value = terms_.Value(registers_[reg][0]);
    if (value) return value->i;
    return absl::UnimplementedError(absl::StrCat(what, " depends on data"));
  }

  absl::Status Body(const std::vector<Inst>& body) {
    for (const Inst& inst : body)
      TW_RETURN_IF_ERROR(
          std::visit([this](const auto& n) { return Run(n); }, inst.node));
    return absl::OkStatus();
  }

  template <typename F>
  absl::Status EachLane(Reg dst, F f) {
    Lanes result;
    for (int i = 0; i < type(dst).lanes; ++i) result.push_back(f(i));
    registers_[dst] = std::move(result);
    return absl::OkStatus();
  }
  // As dtype `to`, which has the same size.
  Term As(DType to, Term term) {
    return terms_.dtype(term) == to
               ? term
               : terms_.Make(TermKind::kBitcast, to, {term});
  }

  absl::Status Run(const OpInst& n) {
    const DType operand = type(n.operands.back()).dtype;
    return EachLane(n.dst, [&](int i) {
      std::vector<Term> operands;
      for (const Reg reg : n.operands) operands.push_back(registers_[reg][i]);
      return terms_.Apply(n.op, type(n.dst).dtype, operand, operands);
    });
  }
  absl::Status Run(const ConstInst& n) {
    return EachLane(n.dst, [&](int) {
      return terms_.Const(type(n.dst).dtype, {n.f, n.i});
    });
  }
  absl::Status Run(const CopyInst& n) {
    return EachLane(n.dst, [&](int i) { return registers_[n.source][i]; });
  }
  absl::Status Run(const SplatInst& n) {
    return EachLane(n.dst, [&](int) { return registers_[n.source][0]; });
  }
  absl::Status Run(const FmaInst& n) {
    return EachLane(n.dst, [&](int i) {
      return terms_.Fma(type(n.dst).dtype, registers_[n.a][i],
                        registers_[n.b][i], registers_[n.c][i]);
    });
  }
  absl::Status Run(const ScaleInst& n) {
    return EachLane(n.dst, [&](int i) {
      return terms_.Make(TermKind::kScale, type(n.dst).dtype,
                         {registers_[n.a][i], registers_[n.n][i]});
    });
  }
  absl::Status Run(const LookupInst& n) {
    const std::string table(reinterpret_cast<const char*>(n.values.data()),
                            n.values.size() * sizeof(n.values[0]));
    return EachLane(n.dst, [&](int i) {
      return terms_.Make(TermKind::kLookup, type(n.dst).dtype,
                         {registers_[n.source][i]}, table);
    });
  }
  absl::Status Run(const PermuteInst& n) {
    return EachLane(n.dst, [&](int i) {
      std::vector<Term> operands = {registers_[n.source][i]};
      operands.insert(operands.end(), registers_[n.table].begin(),
                      registers_[n.table].end());
      return terms_.Make(TermKind::kPermute, type(n.dst).dtype, operands);
    });
  }
  absl::Status Run(const DotInst& n) {
    const int group = DotOf(type(n.a).dtype)->group;
    return EachLane(n.dst, [&](int i) {
      std::vector<Term> operands = {registers_[n.acc][i]};
      for (int g = 0; g < group; ++g) {
        operands.push_back(registers_[n.a][g]);
        operands.push_back(registers_[n.b][i * group + g]);
      }
      return terms_.Make(TermKind::kDot, type(n.dst).dtype, operands);
    });
  }
  absl::Status Run(const LaneInst& n) {
    return EachLane(n.dst, [&](int) { return registers_[n.source][n.lane]; });
  }
  absl::Status Run(const InsertInst& n) {
    return EachLane(n.dst, [&](int i) {
      return i == n.lane ? registers_[n.value][0] : registers_[n.source][i];
    });
  }
  absl::Status Run(const ShuffleInst& n) {
    const int lanes = type(n.a).lanes;
    return EachLane(n.dst, [&](int i) {
      const int from = n.lanes[i];
      return from < lanes ? registers_[n.a][from]
                          : registers_[n.b][from - lanes];
    });
  }
  absl::Status Run(const BitcastInst& n) {
    return EachLane(n.dst, [&](int i) {
      return As(type(n.dst).dtype, registers_[n.source][i]);
    });
  }
  absl::Status Run(const AnyInst& n) {
    Term any = terms_.Const(DType::kBool, {0, 0});
    for (const Term lane : registers_[n.source])
      any = terms_.Apply(Op::kOr, DType::kBool, DType::kBool, {any, lane});
    registers_[n.dst] = {any};
    return absl::OkStatus();
  }
  absl::Status Run(const PrefetchInst&) { return absl::OkStatus(); }
  absl::Status Run(const BarrierInst&) { return Threads(); }
  absl::Status Run(const ExchangeInst&) { return Threads(); }
  absl::Status Run(const AsyncCopyInst&) { return Threads(); }
  absl::Status Run(const CommitInst&) { return Threads(); }
  absl::Status Run(const WaitInst&) { return Threads(); }
  static absl::Status Threads() {
    return absl::UnimplementedError("kernels with threads have no terms");
  }

  // Lanes that an access touches.
  template <typename Access>
  absl::StatusOr<std::vector<bool>> Touched(const Access& n, int lanes) {
    std::vector<bool> touched;
    for (int i = 0; i < lanes; ++i) {
      bool on = n.active == 0 || i < n.active;
      if (on && n.mask != kNoReg) {
        const Lanes& mask = registers_[n.mask];
        const std::optional<Scalar> value =
            terms_.Value(mask[mask.size() == 1 ? 0 : i]);
        if (!value) return absl::UnimplementedError("a mask depends on data");
        on = value->i != 0;
      }
      touched.push_back(on);
    }
    return touched;
  }
  template <typename Access>
  absl::StatusOr<int64_t> First(const Access& n) {
    if (n.offset == kNoReg) return n.constant_offset;
    TW_ASSIGN_OR_RETURN(const int64_t offset, Integer(n.offset, "an address"));
    return offset + n.constant_offset;
  }
  absl::Status Outside(int buffer, int64_t element) const {
    return absl::OutOfRangeError(absl::StrCat(
        "element ", element, " of buffer ", kernel_.buffers[buffer].name,
        ", which has ", kernel_.buffers[buffer].elements));
  }

  absl::Status Run(const LoadInst& n) {
    const RegType& to = type(n.dst);
    TW_ASSIGN_OR_RETURN(const std::vector<bool> touched, Touched(n, to.lanes));
    const Memory& memory = memory_[n.buffer];
    const bool gathers =
        n.offset != kNoReg && !terms_.Value(registers_[n.offset][0]);
    if (gathers && !memory.tracked) return Gather(n, touched);
    TW_ASSIGN_OR_RETURN(const int64_t first, First(n));
    const int64_t elements = kernel_.buffers[n.buffer].elements;
    Lanes result;
    for (int i = 0; i < to.lanes; ++i) {
      const int64_t at = first + i;
      if (!touched[i]) {
        result.push_back(n.other == kNoReg ? terms_.Const(to.dtype, {})
                                           : registers_[n.other][i]);
      } else if (at < 0 || at >= elements) {
        return Outside(n.buffer, at);
      } else if (memory.tracked && memory.written[at] != task_mark_) {
        result.push_back(terms_.Undefined(to.dtype));
      } else {
        result.push_back(As(to.dtype, memory.elements[at]));
      }
    }
    registers_[n.dst] = std::move(result);
    return absl::OkStatus();
  }

  // Nothing writes to an input: what lies at an address stays the same. Whether
  // it lies outside cannot be told, so another address is another term.
  absl::Status Gather(const LoadInst& n, const std::vector<bool>& touched) {
    return EachLane(n.dst, [&](int i) {
      const DType dtype = type(n.dst).dtype;
      if (!touched[i])
        return n.other == kNoReg ? terms_.Const(dtype, {})
                                 : registers_[n.other][i];
      return terms_.Make(TermKind::kGathered, dtype, {registers_[n.offset][0]},
                         absl::StrCat(n.buffer, " ", n.constant_offset + i));
    });
  }

  absl::Status Run(const StoreInst& n) {
    const RegType& from = type(n.value);
    const ScalarBuffer& buffer = kernel_.buffers[n.buffer];
    TW_ASSIGN_OR_RETURN(const int64_t first, First(n));
    TW_ASSIGN_OR_RETURN(const std::vector<bool> touched,
                        Touched(n, from.lanes));
    const bool narrow = RegisterType(buffer.dtype) != buffer.dtype &&
                        SizeBytes(from.dtype) != SizeBytes(buffer.dtype);
    Memory& memory = memory_[n.buffer];
    for (int i = 0; i < from.lanes; ++i) {
      if (!touched[i]) continue;
      const int64_t at = first + i;
      if (at < 0 || at >= buffer.elements) return Outside(n.buffer, at);
      int64_t& written = memory.written[at];
      if (buffer.role == Role::kOutput && written != 0 && written != task_mark_)
        return absl::OutOfRangeError("two tasks store to one element");
      written = task_mark_;
      const Term value = registers_[n.value][i];
      memory.elements[at] =
          narrow ? terms_.Make(TermKind::kStored, from.dtype, {value},
                               absl::StrCat(static_cast<int>(buffer.dtype)))
                 : value;
    }
    return absl::OkStatus();
  }

  absl::Status Run(const ForInst& n) {
    int64_t begin = n.constant_begin, end = n.constant_end;
    if (n.begin != kNoReg) {
      TW_ASSIGN_OR_RETURN(begin, Integer(n.begin, "a loop"));
    }
    if (n.end != kNoReg) {
      TW_ASSIGN_OR_RETURN(end, Integer(n.end, "a loop"));
    }
    for (int64_t at = begin; at < end; at += n.step) {
      registers_[n.var] = {terms_.Const(type(n.var).dtype, {0, at})};
      TW_RETURN_IF_ERROR(Body(n.body));
    }
    return absl::OkStatus();
  }

  absl::Status Run(const IfInst& n) {
    TW_ASSIGN_OR_RETURN(const int64_t taken, Integer(n.condition, "a branch"));
    return Body(taken != 0 ? n.then_body : n.else_body);
  }

  const ScalarKernel& kernel_;
  Terms& terms_;
  std::vector<Lanes> registers_;
  std::vector<Memory> memory_;
  int64_t task_mark_ = 0;  // of the running task, from 1
};

}  // namespace

absl::StatusOr<std::vector<std::vector<Term>>> RunOnSymbols(
    const kernel_ir::ScalarKernel& kernel,
    std::vector<std::vector<Term>> arguments, Terms& terms) {
  Machine machine(kernel, std::move(arguments), terms);
  for (int64_t task = 0; task < kernel.num_tasks; ++task)
    TW_RETURN_IF_ERROR(machine.RunTask(task));
  return machine.Take();
}

}  // namespace tilewright::measure
