// Variables, loops and branches.
#include <utility>

#include "backends/kernel_ir/builder.h"
#include "base/check.h"

namespace tilewright::kernel_ir {

Reg ScalarBuilder::Variable(DType dtype, int lanes, std::string name) {
  return NewReg(dtype, lanes, std::move(name), true);
}

void ScalarBuilder::Assign(Reg variable, Reg value) {
  TW_CHECK(type(variable).is_variable);
  if (type(value).lanes != type(variable).lanes)
    value = Splat(value, type(variable).lanes);
  Append(Inst{CopyInst{variable, value}});
}

void ScalarBuilder::AssignOp(Reg variable, Op op, std::vector<Reg> operands) {
  TW_CHECK(type(variable).is_variable);
  Append(Inst{OpInst{variable, op, SplatToEqualLanes(std::move(operands))}});
}

void ScalarBuilder::AssignFma(Reg variable, Reg a, Reg b, Reg c) {
  TW_CHECK(type(variable).is_variable);
  const std::vector<Reg> o = SplatToEqualLanes({a, b, c});
  Append(Inst{FmaInst{variable, o[0], o[1], o[2]}});
}

void ScalarBuilder::AssignDot(Reg variable, Reg a, Reg b) {
  TW_CHECK(type(variable).is_variable);
  Append(Inst{DotInst{variable, variable, a, b}});
}

void ScalarBuilder::Push(Scope::Kind kind, Inst header) {
  Scope scope;
  scope.kind = kind;
  scope.header = std::move(header);
  scopes_.push_back(std::move(scope));
  scope_epoch_ = ++next_scope_epoch_;
}

ScalarBuilder::Scope ScalarBuilder::Pop() {
  TW_CHECK_GE(scopes_.size(), 2u) << "no scope is open";
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  scope_epoch_ = ++next_scope_epoch_;
  return scope;
}

Reg ScalarBuilder::BeginFor(int64_t begin, int64_t end, int64_t step,
                            int unroll, std::string name, DType dtype) {
  ForInst loop;
  loop.var = NewReg(dtype, 1, std::move(name), false);
  loop.constant_begin = begin;
  loop.constant_end = end;
  loop.step = step;
  loop.unroll = unroll;
  const Reg var = loop.var;
  Push(Scope::Kind::kFor, Inst{std::move(loop)});
  return var;
}

Reg ScalarBuilder::BeginForRegs(Reg begin, Reg end, int64_t step, int unroll,
                                std::string name) {
  ForInst loop;
  loop.var = NewReg(type(end).dtype, 1, std::move(name), false);
  loop.begin = begin;
  loop.end = end;
  loop.step = step;
  loop.unroll = unroll;
  const Reg var = loop.var;
  Push(Scope::Kind::kFor, Inst{std::move(loop)});
  return var;
}

void ScalarBuilder::EndFor() {
  Scope scope = Pop();
  TW_CHECK(scope.kind == Scope::Kind::kFor) << "EndFor closes something else";
  std::get<ForInst>(scope.header.node).body = std::move(scope.insts);
  Append(std::move(scope.header));
}

void ScalarBuilder::BeginIf(Reg condition) {
  IfInst branch;
  branch.condition = condition;
  Push(Scope::Kind::kThen, Inst{std::move(branch)});
}

void ScalarBuilder::BeginElse() {
  Scope scope = Pop();
  TW_CHECK(scope.kind == Scope::Kind::kThen) << "BeginElse without BeginIf";
  std::get<IfInst>(scope.header.node).then_body = std::move(scope.insts);
  Push(Scope::Kind::kElse, std::move(scope.header));
}

void ScalarBuilder::EndIf() {
  Scope scope = Pop();
  TW_CHECK(scope.kind == Scope::Kind::kThen || scope.kind == Scope::Kind::kElse)
      << "EndIf closes something else";
  IfInst& branch = std::get<IfInst>(scope.header.node);
  (scope.kind == Scope::Kind::kThen ? branch.then_body : branch.else_body) =
      std::move(scope.insts);
  Append(std::move(scope.header));
}

ScalarKernel ScalarBuilder::Finish() && {
  TW_CHECK_EQ(scopes_.size(), 1u) << "a scope is still open";
  kernel_.body = std::move(scopes_.back().insts);
  return std::move(kernel_);
}

}  // namespace tilewright::kernel_ir
