#include "backends/cpu/codegen/llvm/kernel_emitter.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/codegen/llvm/convert.h"
#include "backends/cpu/codegen/llvm/dot_emitter.h"
#include "backends/cpu/codegen/llvm/function_emitter.h"
#include "backends/cpu/codegen/llvm/memory_emitter.h"
#include "backends/cpu/codegen/llvm/op_emitter.h"
#include "backends/cpu/kernel_abi.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace tilewright::cpu {
namespace {

using ::llvm::BasicBlock;
using ::llvm::Value;
using namespace kernel_ir;  // NOLINT: the instructions

class KernelEmitter {
 public:
  KernelEmitter(const ScalarKernel& kernel, const CpuTarget& target,
                llvm::Module& module)
      : kernel_(kernel),
        target_(target),
        b_(module.getContext(),
           llvm::InstSimplifyFolder(module.getDataLayout())),
        function_(kernel.name, target, module, b_) {}

  absl::Status Run() {
    CreateVariables();
    MemoryEmitter memory(b_, target_, kernel_, function_.Argument(0),
                         function_.Argument(3));
    memory_ = &memory;
    llvm::Type* type = LlvmType(kernel_.task);
    Value* begin = b_.CreateTrunc(function_.Argument(1), type);
    Value* end = b_.CreateTrunc(function_.Argument(2), type);
    if (const std::vector<int> streamed = StreamedBuffers(kernel_.body);
        !streamed.empty()) {
      // Arguments promise no more than the alignment of an element.
      BasicBlock* past_caches = function_.NewBlock("past_caches");
      BasicBlock* as_usual = function_.NewBlock("as_usual");
      b_.CreateCondBr(memory.AreVectorAligned(streamed), past_caches, as_usual);
      b_.SetInsertPoint(past_caches);
      memory.set_streams(true);
      TW_RETURN_IF_ERROR(Tasks(begin, end));
      memory.EmitFence();
      b_.CreateRet(b_.getInt32(kKernelOk));
      as_usual->moveAfter(b_.GetInsertBlock());
      b_.SetInsertPoint(as_usual);
      memory.set_streams(false);
    }
    TW_RETURN_IF_ERROR(Tasks(begin, end));
    b_.CreateRet(b_.getInt32(kKernelOk));
    function_.PromoteVariables();
    return absl::OkStatus();
  }

 private:
  absl::Status Tasks(Value* begin, Value* end) {
    return function_
        .Loop(begin, end, 1,
              [&](Value* task) {
                values_[kernel_.task] = task;
                return Body(kernel_.body);
              })
        .status();
  }

  // Buffers with a streaming store, each once.
  static std::vector<int> StreamedBuffers(const std::vector<Inst>& body) {
    std::vector<int> buffers;
    const auto add = [&](const std::vector<int>& more) {
      for (const int buffer : more) {
        if (std::find(buffers.begin(), buffers.end(), buffer) == buffers.end())
          buffers.push_back(buffer);
      }
    };
    for (const Inst& inst : body) {
      if (const auto* store = std::get_if<StoreInst>(&inst.node)) {
        if (store->streaming) add({store->buffer});
      } else if (const auto* loop = std::get_if<ForInst>(&inst.node)) {
        add(StreamedBuffers(loop->body));
      } else if (const auto* branch = std::get_if<IfInst>(&inst.node)) {
        add(StreamedBuffers(branch->then_body));
        add(StreamedBuffers(branch->else_body));
      }
    }
    return buffers;
  }

  llvm::Type* LlvmType(Reg reg) {
    return RegisterLlvmType(b_.getContext(), kernel_.regs[reg].dtype,
                            kernel_.regs[reg].lanes);
  }

  void CreateVariables() {
    values_.assign(kernel_.regs.size(), nullptr);
    variables_.assign(kernel_.regs.size(), nullptr);
    set_in_.assign(kernel_.regs.size(), nullptr);
    for (size_t i = 0; i < kernel_.regs.size(); ++i) {
      if (!kernel_.regs[i].is_variable) continue;
      variables_[i] = function_.NewVariable(LlvmType(static_cast<Reg>(i)),
                                            kernel_.regs[i].name);
    }
  }

  Value* Get(Reg reg) {
    // What this block has set itself is seen as what it is: what emits an
    // operation may look at how its operands were made.
    if (variables_[reg] != nullptr && set_in_[reg] != b_.GetInsertBlock()) {
      return b_.CreateLoad(variables_[reg]->getAllocatedType(),
                           variables_[reg]);
    }
    TW_CHECK(values_[reg] != nullptr) << kernel_.name << ": register " << reg;
    return values_[reg];
  }
  Value* GetOrNull(Reg reg) { return reg == kNoReg ? nullptr : Get(reg); }
  void Set(Reg reg, Value* value) {
    if (variables_[reg] != nullptr) {
      b_.CreateStore(value, variables_[reg]);
      set_in_[reg] = b_.GetInsertBlock();
    }
    values_[reg] = value;
  }
  int Lanes(Reg reg) const { return kernel_.regs[reg].lanes; }

  absl::Status Body(const std::vector<Inst>& body) {
    for (const Inst& inst : body) {
      TW_RETURN_IF_ERROR(
          std::visit([&](const auto& node) { return One(node); }, inst.node));
    }
    return absl::OkStatus();
  }

  absl::Status One(const OpInst& n) {
    std::vector<Value*> operands;
    for (Reg reg : n.operands) operands.push_back(Get(reg));
    TW_ASSIGN_OR_RETURN(
        Value * result,
        EmitOp(b_, target_, n.op, kernel_.regs[n.dst].dtype,
               kernel_.regs[n.operands.back()].dtype, operands));
    Set(n.dst, result);
    return absl::OkStatus();
  }
  absl::Status One(const ConstInst& n) {
    llvm::Type* type = LlvmType(n.dst);
    const DType dtype = kernel_.regs[n.dst].dtype;
    if (IsFloat(dtype)) {
      Set(n.dst, llvm::ConstantFP::get(type, n.f));
    } else {
      const int64_t value = dtype == DType::kBool ? n.i != 0 : n.i;
      Set(n.dst, llvm::ConstantInt::getSigned(type, value));
    }
    return absl::OkStatus();
  }
  absl::Status One(const CopyInst& n) {
    Set(n.dst, Get(n.source));
    return absl::OkStatus();
  }
  absl::Status One(const SplatInst& n) {
    Value* source = Get(n.source);
    Set(n.dst, Lanes(n.dst) == 1 ? source
                                 : b_.CreateVectorSplat(Lanes(n.dst), source));
    return absl::OkStatus();
  }
  absl::Status One(const FmaInst& n) {
    if (!target_.fma) {
      return absl::UnimplementedError(
          absl::StrCat("kernel ", kernel_.name, ": ", target_.cpu_class,
                       " has no fused multiply-add: legalize with "
                       "VectorTarget::fma = false"));
    }
    Value* a = Get(n.a);
    Set(n.dst, b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()},
                                  {a, Get(n.b), Get(n.c)}));
    return absl::OkStatus();
  }
  absl::Status One(const ScaleInst& n) {
    if (!target_.scale) {
      return absl::UnimplementedError(absl::StrCat(
          "kernel ", kernel_.name, ": ", target_.cpu_class,
          " cannot scale by a power of two: FunctionOptions::scale = false"));
    }
    Set(n.dst, target_.instructions->Scale(b_, Get(n.a), Get(n.n)));
    return absl::OkStatus();
  }
  absl::Status One(const LookupInst& n) {
    if (!target_.lookup) {
      return absl::UnimplementedError(
          absl::StrCat("kernel ", kernel_.name, ": ", target_.cpu_class,
                       " reads no tables: FunctionOptions::lookup = false"));
    }
    Set(n.dst, target_.instructions->Lookup(b_, Get(n.source), n.values));
    return absl::OkStatus();
  }
  absl::Status One(const PermuteInst& n) {
    if (!target_.permute) {
      return absl::UnimplementedError(
          absl::StrCat("kernel ", kernel_.name, ": ", target_.cpu_class,
                       " permutes no bytes: legalize with "
                       "VectorTarget::permutes_bytes = false"));
    }
    Set(n.dst, target_.instructions->Permute(b_, Get(n.source), Get(n.table)));
    return absl::OkStatus();
  }
  absl::Status One(const DotInst& n) {
    Set(n.dst, EmitDot(b_, target_, *DotOf(kernel_.regs[n.a].dtype), Get(n.acc),
                       Get(n.a), Get(n.b)));
    return absl::OkStatus();
  }
  absl::Status One(const LaneInst& n) {
    Value* source = Get(n.source);
    Set(n.dst, Lanes(n.source) == 1 ? source
                                    : b_.CreateExtractElement(source, n.lane));
    return absl::OkStatus();
  }
  absl::Status One(const InsertInst& n) {
    Value* value = Get(n.value);
    Set(n.dst, Lanes(n.dst) == 1
                   ? value
                   : b_.CreateInsertElement(Get(n.source), value, n.lane));
    return absl::OkStatus();
  }
  absl::Status One(const ShuffleInst& n) {
    Set(n.dst, b_.CreateShuffleVector(Get(n.a), Get(n.b), n.lanes));
    return absl::OkStatus();
  }
  absl::Status One(const BitcastInst& n) {
    Set(n.dst, b_.CreateBitCast(Get(n.source), LlvmType(n.dst)));
    return absl::OkStatus();
  }
  absl::Status One(const AnyInst& n) {
    Value* source = Get(n.source);
    Set(n.dst, Lanes(n.source) == 1 ? source : b_.CreateOrReduce(source));
    return absl::OkStatus();
  }
  absl::Status One(const LoadInst& n) {
    Set(n.dst, memory_->Load(n, kernel_.regs[n.dst], GetOrNull(n.offset),
                             GetOrNull(n.mask), GetOrNull(n.other)));
    return absl::OkStatus();
  }
  absl::Status One(const StoreInst& n) {
    memory_->Store(n, Lanes(n.value), Get(n.value), GetOrNull(n.offset),
                   GetOrNull(n.mask));
    return absl::OkStatus();
  }
  // Only kernels with threads have these, and EmitKernel takes none.
  absl::Status One(const BarrierInst&) {
    return absl::InternalError("barrier");
  }
  absl::Status One(const ExchangeInst&) {
    return absl::InternalError("exchange");
  }
  absl::Status One(const AsyncCopyInst&) { return absl::InternalError("copy"); }
  absl::Status One(const CommitInst&) { return absl::InternalError("commit"); }
  absl::Status One(const WaitInst&) { return absl::InternalError("wait"); }
  absl::Status One(const PrefetchInst& n) {
    memory_->Prefetch(n, GetOrNull(n.offset));
    return absl::OkStatus();
  }

  absl::Status One(const IfInst& n) {
    Value* condition = Get(n.condition);
    if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
      return Body(known->isOne() ? n.then_body : n.else_body);
    }
    BasicBlock* then_block = function_.NewBlock("then");
    BasicBlock* else_block =
        n.else_body.empty() ? nullptr : function_.NewBlock("else");
    BasicBlock* end_block = function_.NewBlock("end");
    b_.CreateCondBr(condition, then_block, else_block ? else_block : end_block);
    b_.SetInsertPoint(then_block);
    TW_RETURN_IF_ERROR(Body(n.then_body));
    b_.CreateBr(end_block);
    if (else_block != nullptr) {
      b_.SetInsertPoint(else_block);
      TW_RETURN_IF_ERROR(Body(n.else_body));
      b_.CreateBr(end_block);
    }
    end_block->moveAfter(b_.GetInsertBlock());
    b_.SetInsertPoint(end_block);
    return absl::OkStatus();
  }

  absl::Status One(const ForInst& n) {
    llvm::Type* type = LlvmType(n.var);
    const auto constant = [&](int64_t value) {
      return llvm::ConstantInt::getSigned(type, value);
    };
    const auto iteration = [&](Value* var) {
      values_[n.var] = var;
      return Body(n.body);
    };
    Value* begin =
        n.begin == kNoReg ? constant(n.constant_begin) : Get(n.begin);
    Value* end = n.end == kNoReg ? constant(n.constant_end) : Get(n.end);
    auto* known_begin = llvm::dyn_cast<llvm::ConstantInt>(begin);
    auto* known_end = llvm::dyn_cast<llvm::ConstantInt>(end);
    if (known_begin != nullptr && known_end != nullptr) {
      return ConstantFor(n, known_begin->getSExtValue(),
                         known_end->getSExtValue(), constant, iteration);
    }
    if (n.unroll > 1) {
      // Rounds of `unroll` iterations while a whole round fits, then the rest.
      Value* rounds_end = b_.CreateSub(end, constant((n.unroll - 1) * n.step));
      TW_ASSIGN_OR_RETURN(
          begin,
          function_.Loop(begin, rounds_end, n.unroll * n.step, [&](Value* var) {
            return Round(n, var, constant, iteration);
          }));
    }
    return function_.Loop(begin, end, n.step, iteration).status();
  }

  template <typename Constant, typename Iteration>
  absl::Status Round(const ForInst& n, Value* var, const Constant& constant,
                     const Iteration& iteration) {
    for (int i = 0; i < n.unroll; ++i) {
      TW_RETURN_IF_ERROR(
          iteration(i == 0 ? var : b_.CreateNSWAdd(var, constant(i * n.step))));
    }
    return absl::OkStatus();
  }

  template <typename Constant, typename Iteration>
  absl::Status ConstantFor(const ForInst& n, int64_t begin, int64_t end,
                           const Constant& constant,
                           const Iteration& iteration) {
    const int64_t trips = begin < end ? (end - begin + n.step - 1) / n.step : 0;
    const int64_t rounds = trips / n.unroll;
    const int64_t rest = trips % n.unroll;
    int64_t next = begin;
    if (rounds == 1) {
      TW_RETURN_IF_ERROR(Round(n, constant(next), constant, iteration));
    } else if (rounds > 1) {
      const int64_t round_step = n.unroll * n.step;
      TW_RETURN_IF_ERROR(function_
                             .Loop(constant(next),
                                   constant(next + rounds * round_step),
                                   round_step,
                                   [&](Value* var) {
                                     return Round(n, var, constant, iteration);
                                   })
                             .status());
    }
    next += rounds * n.unroll * n.step;
    if (rest == 1) return iteration(constant(next));
    if (rest == 0) return absl::OkStatus();
    return function_.Loop(constant(next), constant(end), n.step, iteration)
        .status();
  }

  const ScalarKernel& kernel_;
  const CpuTarget& target_;
  Builder b_;
  FunctionEmitter function_;
  MemoryEmitter* memory_ = nullptr;
  // By register: the last value, and of variables the block that has set it.
  std::vector<Value*> values_;
  std::vector<llvm::BasicBlock*> set_in_;
  std::vector<llvm::AllocaInst*> variables_;  // null for values
};

}  // namespace

absl::Status EmitKernel(const ScalarKernel& kernel, const CpuTarget& target,
                        llvm::Module& module) {
  if (kernel.has_threads()) {
    return absl::UnimplementedError(
        absl::StrCat("kernel ", kernel.name, " has blocks of ", kernel.threads,
                     " threads: on a CPU a task is one thread"));
  }
  return KernelEmitter(kernel, target, module).Run();
}

}  // namespace tilewright::cpu
