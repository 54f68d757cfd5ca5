#include "backends/lowering/vectorize/emit_threads.h"

#include <variant>

#include "backends/kernel_ir/builder.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::lowering {

using kernel_ir::For;
using kernel_ir::If;
using kernel_ir::Level;
using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;
using kernel_ir::Stmt;

std::set<int> SharedBuffers(const kernel_ir::Kernel& kernel,
                            const ThreadCode& code) {
  std::set<int> shared;
  for (const kernel_ir::Buffer& b : kernel.buffers) {
    if (b.role == Role::kOutput ||
        (b.role == Role::kLocal && code.plan.own.count(b.id) == 0))
      shared.insert(b.id);
  }
  return shared;
}

void ThreadEmitter::Begin() {
  thread_ = c_.builder.thread();
  Number(c_.kernel.body);
}

void ThreadEmitter::Number(const std::vector<Stmt>& stmts) {
  ScalarBuilder& b = c_.builder;
  for (const Stmt& stmt : stmts) {
    if (const auto* branch = std::get_if<If>(&stmt.node)) {
      Number(branch->then_body);
      Number(branch->else_body);
    } else if (const auto* loop = std::get_if<For>(&stmt.node)) {
      if (loop->kind == For::Kind::kThread) {
        const auto [stride, wraps] =
            std::make_pair(loop->place.stride, loop->place.wraps);
        Reg number = thread_;
        if (stride > 1) number = b.Emit(Op::kFloorDiv, {number, b.Int(stride)});
        if (wraps > 0) number = b.Emit(Op::kFloorMod, {number, b.Int(wraps)});
        numbers_[{stride, wraps}] = number;
      }
      Number(loop->body);
    }
  }
}

void ThreadEmitter::Before(const Stmt& stmt) {
  if (code_.barriers.count(&stmt) > 0) c_.builder.Barrier();
  const auto* loop = std::get_if<For>(&stmt.node);
  if (loop == nullptr) return;
  const auto exchange = code_.plan.lanes.exchanges.find(loop->var);
  if (exchange != code_.plan.lanes.exchanges.end()) Exchange(exchange->second);
}

void ThreadEmitter::Exchange(const LaneExchange& exchange) {
  ScalarBuilder& b = c_.builder;
  const int memory = c_.memory[exchange.buffer];
  if (memory >= 0) {  // too many elements for registers
    const Reg i = b.BeginFor(0, b.buffer(memory).elements);
    const Reg value = b.Variable(c_.kernel.buffers[exchange.buffer].dtype, 1);
    b.Assign(value, b.Load(memory, i, 0));
    CombineLanes(exchange, value);
    b.Store(memory, i, 0, value);
    b.EndFor();
    return;
  }
  for (const auto& [key, variable] : c_.variables) {
    if (key.first == exchange.buffer) CombineLanes(exchange, variable);
  }
}

// Each lane combines what it has with what its partner has.
void ThreadEmitter::CombineLanes(const LaneExchange& exchange, Reg variable) {
  ScalarBuilder& b = c_.builder;
  const DType dtype = b.type(variable).dtype;
  const Expr own = Expr::Load(0, dtype, {}), other = Expr::Load(1, dtype, {});
  const Expr combined = exchange.combiner.Combine({own}, {other})[0];
  for (int64_t step = 1; step < exchange.extent; step *= 2) {
    const Reg taken =
        b.ExchangeXor(variable, static_cast<int>(step * exchange.stride));
    b.Assign(variable, b.EmitExpr(combined, [&](const Expr& e) {
      return e.source() == 0 ? variable : taken;
    }));
  }
}

void ThreadEmitter::BeginFirst() {
  c_.builder.BeginIf(c_.builder.Emit(Op::kLt, {thread_, c_.builder.Int(1)}));
  ++depth_;
}

void ThreadEmitter::EndFirst() {
  c_.builder.EndIf();
  --depth_;
}

Reg ThreadEmitter::HasIteration(const For& loop) {
  const int64_t stride = loop.place.stride, wraps = loop.place.wraps;
  ScalarBuilder& b = c_.builder;
  if (wraps > 0)
    return loop.extent == wraps ? kernel_ir::kNoReg
                                : b.Emit(Op::kLt, {numbers_.at({stride, wraps}),
                                                   b.Int(loop.extent)});
  return loop.extent * stride == c_.kernel.threads
             ? kernel_ir::kNoReg
             : b.Emit(Op::kLt, {thread_, b.Int(loop.extent * stride)});
}

void ThreadEmitter::BeginLoop(const For& loop, int depth) {
  if (depth_++ == 0)
    everywhere_ = code_.plan.lanes.everywhere.count(loop.var) > 0;
  const Reg has = everywhere_ ? kernel_ir::kNoReg : HasIteration(loop);
  if (has != kernel_ir::kNoReg) {
    c_.builder.BeginIf(has);
    guarded_.insert(loop.var);
  }
  LoopValue value;
  value.depth = depth;
  if (loop.extent > 1)
    value.reg = numbers_.at({loop.place.stride, loop.place.wraps});
  c_.loops[loop.var] = value;
}

void ThreadEmitter::EndLoop(const For& loop) {
  c_.loops.erase(loop.var);
  if (guarded_.erase(loop.var) > 0) c_.builder.EndIf();
  --depth_;
}

}  // namespace tilewright::lowering
