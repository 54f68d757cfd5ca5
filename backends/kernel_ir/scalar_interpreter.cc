#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/kernel_ir/scalar_code.h"
#include "backends/kernel_ir/scalar_copies.h"
#include "backends/kernel_ir/scalar_memory.h"
#include "backends/kernel_ir/scalar_steps.h"
#include "backends/kernel_ir/scalar_threads.h"
#include "base/status_macros.h"

namespace tilewright::kernel_ir {
namespace {

using internal::AnyStep;
using internal::Code;
using internal::CopyStep;
using internal::DotFloatStep;
using internal::DotIntStep;
using internal::ForStep;
using internal::FullMachine;
using internal::HaltStep;
using internal::IfStep;
using internal::InsertStep;
using internal::JumpStep;
using internal::LaneStep;
using internal::LookupStep;
using internal::Memory;
using internal::NextStep;
using internal::PermuteStep;
using internal::ShuffleStep;
using internal::SplatStep;
using internal::WriteIndex;
using internal::WriteLane;

// Lays a kernel out as flat code. Jump targets are indices until the code
// stands still.
class Compiler {
 public:
  explicit Compiler(const ScalarKernel& kernel) : k_(kernel) {
    for (const RegType& type : k_.regs)
      at_.push_back(Reserve(type.dtype, type.lanes));
  }

  void Compile() {
    Body(k_.body);
    Emit(HaltStep);
    for (auto& [from, to] : jumps_) code_[from].target = &code_[to];
  }
  const Code* entry() const { return code_.data(); }
  // The register file as it is before the first instruction: constants are in
  // place.
  std::vector<char>& registers() { return registers_; }
  int32_t at(Reg reg) const { return at_[reg]; }

 private:
  int32_t Reserve(DType dtype, int lanes) {
    const size_t start = (registers_.size() + 7) / 8 * 8;
    registers_.resize(start + SizeBytes(dtype) * lanes);
    return static_cast<int32_t>(start);
  }
  int32_t At(Reg reg) const { return reg == kNoReg ? -1 : at_[reg]; }
  Code& Emit(internal::Step step) {
    code_.emplace_back();
    code_.back().step = step;
    code_.back().position = position_;
    return code_.back();
  }
  int Here() const { return static_cast<int>(code_.size()); }
  int32_t Constant(int64_t value, DType dtype) {
    const int32_t at = Reserve(dtype, 1);
    WriteLane(registers_.data() + at, dtype, 0, {0, value});
    return at;
  }

  void Body(const std::vector<Inst>& body) {
    for (const Inst& inst : body) {
      ++position_;
      std::visit([&](const auto& node) { One(node); }, inst.node);
    }
  }
  void One(const OpInst& n) {
    const DType operand = k_.regs[n.operands.back()].dtype;
    Code& c = Emit(internal::StepFor(n.op, k_.regs[n.dst].dtype, operand));
    c.op = n.op;
    c.dst = At(n.dst);
    c.a = At(n.operands[0]);
    if (n.operands.size() > 1) c.b = At(n.operands[1]);
    if (n.operands.size() > 2) c.c = At(n.operands[2]);
    c.lanes = k_.regs[n.dst].lanes;
    c.dtype = k_.regs[n.dst].dtype;
    c.operand_dtype = operand;
  }
  // A value's constant never changes, so it is written once, before the run; a
  // variable's is copied from a hidden register.
  void One(const ConstInst& n) {
    const RegType type = k_.regs[n.dst];
    const int32_t at =
        type.is_variable ? Reserve(type.dtype, type.lanes) : At(n.dst);
    for (int i = 0; i < type.lanes; ++i)
      WriteLane(registers_.data() + at, type.dtype, i, {n.f, n.i});
    if (type.is_variable) Copy(At(n.dst), at, type);
  }
  void Copy(int32_t dst, int32_t source, const RegType& type) {
    Code& c = Emit(CopyStep);
    c.dst = dst;
    c.a = source;
    c.imm = SizeBytes(type.dtype) * type.lanes;
  }
  void One(const CopyInst& n) { Copy(At(n.dst), At(n.source), k_.regs[n.dst]); }
  void One(const SplatInst& n) {
    Code& c = Emit(SplatStep);
    c.dst = At(n.dst);
    c.a = At(n.source);
    c.lanes = k_.regs[n.dst].lanes;
    c.imm = SizeBytes(k_.regs[n.dst].dtype);
  }
  void One(const FmaInst& n) {
    Code& c = Emit(internal::FmaStepFor(k_.regs[n.dst].dtype));
    c.dst = At(n.dst);
    c.a = At(n.a);
    c.b = At(n.b);
    c.c = At(n.c);
    c.lanes = k_.regs[n.dst].lanes;
  }
  void One(const ScaleInst& n) {
    Code& c = Emit(internal::ScaleStepFor(k_.regs[n.dst].dtype));
    c.dst = At(n.dst);
    c.a = At(n.a);
    c.b = At(n.n);
    c.lanes = k_.regs[n.dst].lanes;
  }
  void One(const LookupInst& n) {
    const int32_t table = Reserve(DType::kFloat32, kLookupValues);
    for (int i = 0; i < kLookupValues; ++i)
      WriteLane(registers_.data() + table, DType::kFloat32, i, {n.values[i]});
    Code& c = Emit(LookupStep);
    c.dst = At(n.dst);
    c.a = At(n.source);
    c.c = table;
    c.lanes = k_.regs[n.dst].lanes;
    c.aux = kLookupValues;
  }
  void One(const PermuteInst& n) {
    Code& c = Emit(PermuteStep);
    c.dst = At(n.dst);
    c.a = At(n.source);
    c.c = At(n.table);
    c.lanes = k_.regs[n.dst].lanes;
  }
  void One(const DotInst& n) {
    const DotIntrinsic& dot = *DotOf(k_.regs[n.a].dtype);
    Code& c = Emit(IsFloat(dot.acc) ? DotFloatStep : DotIntStep);
    c.dst = At(n.dst);
    c.a = At(n.a);
    c.b = At(n.b);
    c.c = At(n.acc);
    c.lanes = k_.regs[n.dst].lanes;
    c.aux = dot.group;
  }
  void One(const LaneInst& n) {
    Code& c = Emit(LaneStep);
    c.dst = At(n.dst);
    c.a = At(n.source);
    c.aux = n.lane;
    c.imm = SizeBytes(k_.regs[n.dst].dtype);
  }
  void One(const InsertInst& n) {
    Code& c = Emit(InsertStep);
    c.dst = At(n.dst);
    c.a = At(n.source);
    c.b = At(n.value);
    c.aux = n.lane;
    c.lanes = k_.regs[n.dst].lanes;
    c.imm = SizeBytes(k_.regs[n.dst].dtype);
  }
  void One(const ShuffleInst& n) {
    const RegType type = k_.regs[n.dst];
    const int32_t table = Reserve(DType::kInt32, type.lanes);
    for (int i = 0; i < type.lanes; ++i)
      WriteLane(registers_.data() + table, DType::kInt32, i, {0, n.lanes[i]});
    // A variable may be its own source.
    const bool in_place = n.dst == n.a || n.dst == n.b;
    const int32_t dst = in_place ? Reserve(type.dtype, type.lanes) : At(n.dst);
    Code& c = Emit(ShuffleStep);
    c.dst = dst;
    c.a = At(n.a);
    c.b = At(n.b);
    c.c = table;
    c.lanes = type.lanes;
    c.aux = k_.regs[n.a].lanes;
    c.imm = SizeBytes(type.dtype);
    if (in_place) Copy(At(n.dst), dst, type);
  }
  void One(const BitcastInst& n) {
    Copy(At(n.dst), At(n.source), k_.regs[n.source]);
  }
  void One(const AnyInst& n) {
    Code& c = Emit(AnyStep);
    c.dst = At(n.dst);
    c.a = At(n.source);
    c.lanes = k_.regs[n.source].lanes;
  }
  // Whether elements are converted on their way between buffer and register.
  bool Narrow(int buffer, Reg value) const {
    const DType element = k_.buffers[buffer].dtype;
    return RegisterType(element) != element &&
           SizeBytes(k_.regs[value].dtype) != SizeBytes(element);
  }
  template <typename Access>
  void Place(Code& c, const Access& n, Reg value) {
    c.aux = n.buffer;
    c.b = At(n.offset);
    c.c = At(n.mask);
    c.imm = n.constant_offset;
    c.lanes = k_.regs[value].lanes;
    c.active = n.active == 0 ? c.lanes : n.active;
    c.dtype = k_.regs[value].dtype;
    c.operand_dtype =
        n.offset == kNoReg ? DType::kInt64 : k_.regs[n.offset].dtype;
    c.scalar_mask = n.mask != kNoReg && k_.regs[n.mask].lanes == 1;
  }
  void One(const LoadInst& n) {
    Code& c =
        Emit(internal::LoadStepFor(Narrow(n.buffer, n.dst), k_.has_threads()));
    Place(c, n, n.dst);
    c.dst = At(n.dst);
    c.a = At(n.other);
  }
  void One(const StoreInst& n) {
    Code& c = Emit(
        internal::StoreStepFor(Narrow(n.buffer, n.value), k_.has_threads()));
    Place(c, n, n.value);
    c.a = At(n.value);
  }
  void One(const PrefetchInst&) {}
  void One(const BarrierInst&) { Emit(internal::BarrierStep); }
  void One(const ExchangeInst& n) {
    Code& c = Emit(internal::ExchangeStep);
    c.dst = At(n.dst);
    c.a = At(n.source);
    c.b = At(n.lane);
    c.aux = n.lane_xor;
    c.imm = SizeBytes(k_.regs[n.dst].dtype) * k_.regs[n.dst].lanes;
    c.operand_dtype = n.lane == kNoReg ? DType::kInt64 : k_.regs[n.lane].dtype;
  }
  void One(const AsyncCopyInst& n) {
    const auto place = [&](Code& c, int buffer, Reg offset, int64_t constant) {
      c.aux = buffer;
      c.b = At(offset);
      c.imm = constant;
      c.operand_dtype =
          offset == kNoReg ? DType::kInt64 : k_.regs[offset].dtype;
      c.lanes = n.lanes;
      c.c = At(n.mask);
    };
    place(Emit(internal::AsyncCopyStep), n.to, n.to_offset, n.to_constant);
    place(Emit(nullptr), n.from, n.from_offset, n.from_constant);
  }
  void One(const CommitInst&) { Emit(internal::CommitStep); }
  void One(const WaitInst& n) { Emit(internal::WaitStep).imm = n.pending; }
  void One(const ForInst& n) {
    const DType dtype = k_.regs[n.var].dtype;
    const int32_t begin =
        n.begin == kNoReg ? Constant(n.constant_begin, dtype) : At(n.begin);
    int32_t end = 0;
    if (n.end == kNoReg) {
      end = Constant(n.constant_end, dtype);
    } else {  // bounds are read once, on entry
      end = Reserve(dtype, 1);
      Copy(end, At(n.end), RegType{dtype, 1, false, ""});
    }
    const int head = Here();
    Code& c = Emit(ForStep);
    c.dst = At(n.var);
    c.a = begin;
    c.b = end;
    c.dtype = dtype;
    Body(n.body);
    jumps_.push_back({Here(), head + 1});
    Code& next = Emit(NextStep);
    next.dst = At(n.var);
    next.b = end;
    next.imm = n.step;
    next.dtype = dtype;
    jumps_.push_back({head, Here()});
  }
  void One(const IfInst& n) {
    const int head = Here();
    Emit(IfStep).a = At(n.condition);
    Body(n.then_body);
    if (n.else_body.empty()) {
      jumps_.push_back({head, Here()});
      return;
    }
    const int over = Here();
    Emit(JumpStep);
    jumps_.push_back({head, Here()});
    Body(n.else_body);
    jumps_.push_back({over, Here()});
  }

  const ScalarKernel& k_;
  std::vector<int32_t> at_;
  std::vector<char> registers_;
  std::vector<Code> code_;
  std::vector<std::pair<int, int>> jumps_;
  int position_ = 0;
};

// Where the kernel's buffers lie. `scratch` outlives the machine.
absl::Status AddMemory(const ScalarKernel& kernel, absl::Span<std::string> args,
                       std::vector<char>& scratch, FullMachine& machine) {
  size_t next_arg = 0;
  for (const ScalarBuffer& b : kernel.buffers) {
    Memory memory{&b, nullptr,
                  b.role == Role::kLocal || b.role == Role::kOutput};
    const int64_t copies = b.per_thread ? kernel.threads : 1;
    if (b.per_thread) {
      memory.storage.resize(copies * b.elements * SizeBytes(b.dtype));
    } else if (b.role == Role::kLocal) {
      memory.data = scratch.data() + b.scratch_offset_bytes;
    } else {
      if (next_arg == args.size())
        return absl::InvalidArgumentError(absl::StrCat(
            "no argument for buffer ", b.name, " of ", kernel.name));
      std::string& bytes = args[next_arg++];
      if (static_cast<int64_t>(bytes.size()) <
          b.elements * SizeBytes(b.dtype)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "argument ", b.name, " of ", kernel.name, " has ", bytes.size(),
            " bytes, not ", b.elements * SizeBytes(b.dtype)));
      }
      memory.data = &bytes[0];
    }
    if (memory.tracked) memory.marks.assign(copies * b.elements, 0);
    memory.written = memory.marks.data();
    if (memory.tracked && kernel.has_threads() && !b.per_thread)
      memory.touched.resize(b.elements);
    machine.memory.push_back(std::move(memory));
  }
  if (next_arg != args.size())
    return absl::InvalidArgumentError(
        absl::StrCat(args.size(), " arguments for ", kernel.name));
  return absl::OkStatus();
}

}  // namespace

absl::Status InterpretScalarKernel(const ScalarKernel& kernel,
                                   absl::Span<std::string> args,
                                   int64_t task_begin, int64_t task_end,
                                   const AccessCallback& on_access,
                                   int64_t undefined_integer) {
  TW_RETURN_IF_ERROR(VerifyScalarKernel(kernel));
  if (task_begin < 0 || task_end > kernel.num_tasks) {
    return absl::InvalidArgumentError(
        absl::StrCat("tasks ", task_begin, "..", task_end, " of kernel ",
                     kernel.name, ", which has ", kernel.num_tasks));
  }
  Compiler compiler(kernel);
  compiler.Compile();

  FullMachine machine;
  machine.undefined_integer = undefined_integer;
  std::vector<char> scratch(kernel.scratch_bytes);
  TW_RETURN_IF_ERROR(AddMemory(kernel, args, scratch, machine));
  if (on_access) machine.on_access = &on_access;
  const int32_t task_at = compiler.at(kernel.task);
  std::optional<internal::Block> block;
  if (kernel.has_threads())
    block.emplace(kernel, machine, compiler.registers(), task_at,
                  compiler.at(kernel.thread));
  machine.regs = compiler.registers().data();

  for (int64_t task = task_begin; task < task_end; ++task) {
    machine.task_mark = static_cast<int32_t>(task - task_begin + 1);
    if (block) {
      block->Run(compiler.entry(), task);
    } else {
      WriteIndex(machine, task_at, kernel.regs[kernel.task].dtype, task);
      for (const Code* c = compiler.entry(); c != nullptr;)
        c = c->step(machine, c);
    }
    if (!machine.status.ok()) {
      return absl::Status(
          machine.status.code(),
          absl::StrCat("scalar kernel ", kernel.name, ", task ", task,
                       block ? absl::StrCat(", thread ", machine.thread) : "",
                       ": ", std::string(machine.status.message())));
    }
  }
  return absl::OkStatus();
}

}  // namespace tilewright::kernel_ir
