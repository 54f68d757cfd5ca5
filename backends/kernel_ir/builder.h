// Writes scalar-tier kernels, instruction by instruction, into the innermost
// open scope (the task body, a loop, a branch of an if).
//
// Pure value instructions are hash-consed: an instruction equal to one that
// stands in this scope or one around it gives the same register. So are loads:
// of inputs and constants always, of other buffers until the next store to that
// buffer or the next scope boundary. What reads a variable is never shared. A
// load or operation is never moved: to share a value across iterations, emit it
// before the loop.
//
// Element types: registers never are f16 or bf16; loads and stores convert, and
// asking for such a register gives f32.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_BUILDER_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_BUILDER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::kernel_ir {

class ScalarBuilder {
 public:
  explicit ScalarBuilder(std::string name, int64_t num_tasks = 1);

  // Arguments come before scratch. Both return the buffer's id. Scratch offsets
  // are laid out in order, 64-byte aligned.
  int AddArgument(std::string name, DType dtype, Role role, int64_t elements);
  int AddScratch(std::string name, DType dtype, int64_t elements);
  Reg task() const { return kernel_.task; }
  // Gives the kernel threads; returns the register of a thread's number. What
  // AddScratch adds is then a block's. REQUIRES: once at most.
  Reg AddThreads(int threads, int warp);
  Reg thread() const { return kernel_.thread; }
  // Scratch that each thread has for itself.
  int AddPerThread(std::string name, DType dtype, int64_t elements);
  const RegType& type(Reg reg) const { return kernel_.regs[reg]; }
  const ScalarBuffer& buffer(int id) const { return kernel_.buffers[id]; }

  // Constants, equal in every lane.
  Reg Int(int64_t value, DType dtype = DType::kInt64, int lanes = 1);
  Reg Float(double value, DType dtype = DType::kFloat32, int lanes = 1);
  Reg Bool(bool value, int lanes = 1) {
    return Int(value, DType::kBool, lanes);
  }

  // Arithmetic. Scalar operands beside vectors are splat first. All return the
  // result; dtypes as for Expr::Make.
  Reg Emit(Op op, std::vector<Reg> operands);
  Reg Add(Reg a, Reg b) { return Emit(Op::kAdd, {a, b}); }
  Reg Sub(Reg a, Reg b) { return Emit(Op::kSub, {a, b}); }
  Reg Mul(Reg a, Reg b) { return Emit(Op::kMul, {a, b}); }
  Reg Max(Reg a, Reg b) { return Emit(Op::kMax, {a, b}); }
  Reg Min(Reg a, Reg b) { return Emit(Op::kMin, {a, b}); }
  Reg And(Reg a, Reg b) { return Emit(Op::kAnd, {a, b}); }
  Reg Select(Reg condition, Reg a, Reg b) {
    return Emit(Op::kSelect, {condition, a, b});
  }
  Reg Cast(DType to, Reg source);
  Reg Fma(Reg a, Reg b, Reg c);  // a * b + c, one rounding; float only
  Reg Scale(Reg a, Reg n);       // a * 2^floor(n), one rounding; float only
  Reg Lookup(Reg source, std::vector<float> values);  // see LookupInst
  Reg Permute(Reg source, Reg table);                 // see PermuteInst
  Reg Splat(Reg source, int lanes);
  Reg Lane(Reg source, int lane);
  Reg Insert(Reg source, int lane, Reg value);
  // See ShuffleInst; one lane gives a scalar.
  Reg Shuffle(Reg a, Reg b, std::vector<int> lanes);
  Reg Bitcast(DType to, Reg source);  // the same bits; dtypes of equal size
  Reg Any(Reg source);                // scalar bool: is any lane true?
  // A whole expression: `leaf` gives the register of each kVar and kLoad node
  // it meets. Both sides of selects are emitted.
  Reg EmitExpr(const Expr& expr, const std::function<Reg(const Expr&)>& leaf);

  // Memory: see LoadInst and StoreInst.
  Reg Load(int buffer, Reg offset, int64_t constant_offset, int lanes = 1,
           int active = 0, Reg mask = kNoReg, Reg other = kNoReg);
  void Store(int buffer, Reg offset, int64_t constant_offset, Reg value,
             int active = 0, Reg mask = kNoReg);
  // The bits of bf16 elements, as u16.
  Reg LoadBits(int buffer, Reg offset, int64_t constant_offset, int lanes,
               int active = 0);
  // Makes later requests load from the buffer anew instead of taking loaded
  // values: for values that would wait too long in registers.
  void ForgetLoads(int buffer) { ++load_epoch_[buffer]; }
  void Prefetch(int buffer, Reg offset, int64_t constant_offset, int level);

  // Among threads: see BarrierInst and ExchangeInst.
  void Barrier();
  Reg ExchangeXor(Reg source, int lane_xor);
  Reg ExchangeLane(Reg source, Reg lane);
  // See AsyncCopyInst, CommitInst and WaitInst.
  void AsyncCopy(AsyncCopyInst copy);
  void Commit();
  void Wait(int pending);

  // Variables may be assigned any number of times, and must be before they are
  // read.
  Reg Variable(DType dtype, int lanes, std::string name = "");
  void Assign(Reg variable, Reg value);
  // variable = op(operands) or a * b + c, without a value in between.
  void AssignOp(Reg variable, Op op, std::vector<Reg> operands);
  void AssignFma(Reg variable, Reg a, Reg b, Reg c);
  // variable = variable + dot(a, b); see DotInst.
  void AssignDot(Reg variable, Reg a, Reg b);

  // Scopes. BeginFor returns the loop's register, a value of its own in every
  // iteration; the bounds of BeginForRegs are registers.
  Reg BeginFor(int64_t begin, int64_t end, int64_t step = 1, int unroll = 1,
               std::string name = "", DType dtype = DType::kInt64);
  Reg BeginForRegs(Reg begin, Reg end, int64_t step = 1, int unroll = 1,
                   std::string name = "");
  void EndFor();
  void BeginIf(Reg condition);
  void BeginElse();
  void EndIf();

  // REQUIRES: every scope is closed.
  ScalarKernel Finish() &&;

 private:
  struct Scope {
    enum class Kind { kBody, kFor, kThen, kElse } kind;
    std::vector<Inst> insts;
    std::map<std::string, Reg>
        known;    // instruction -> register that holds its result
    Inst header;  // the ForInst or IfInst, without this body
  };

  Reg NewReg(DType dtype, int lanes, std::string name, bool is_variable);
  void Append(Inst inst);
  // The register of an equal instruction in scope, or a new one after appending
  // `make(dst)`.
  template <typename Make>
  Reg Shared(const std::string& key, bool shareable, DType dtype, int lanes,
             Make make);
  Reg LoadAs(DType dtype, int buffer, Reg offset, int64_t constant_offset,
             int lanes, int active, Reg mask, Reg other);
  bool AnyVariable(absl::Span<const Reg> regs) const;
  std::vector<Reg> SplatToEqualLanes(std::vector<Reg> operands);
  void Push(Scope::Kind kind, Inst header);
  Scope Pop();

  ScalarKernel kernel_;
  std::vector<Scope> scopes_;
  std::vector<int64_t> load_epoch_;  // per buffer: part of the key of its loads
  int64_t scope_epoch_ = 0;
  int64_t next_scope_epoch_ = 0;
};

}  // namespace tilewright::kernel_ir

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_BUILDER_H_
