#include "backends/cpu/codegen/llvm/function_emitter.h"

#include "base/check.h"
#include "base/status_macros.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

namespace tilewright::cpu {

using ::llvm::BasicBlock;
using ::llvm::Value;

FunctionEmitter::FunctionEmitter(const std::string& name,
                                 const CpuTarget& target, llvm::Module& module,
                                 llvm::IRBuilderBase& b)
    : b_(b) {
  llvm::Type* pointer = b_.getPtrTy();
  auto* type = llvm::FunctionType::get(
      b_.getInt32Ty(), {pointer, b_.getInt64Ty(), b_.getInt64Ty(), pointer},
      false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                     name, module);
  function_->setDSOLocal(true);
  function_->setAlignment(llvm::Align(64));
  SetFunctionAttributes(target, *function_);
  function_->addParamAttr(0, llvm::Attribute::NoAlias);
  function_->addParamAttr(0, llvm::Attribute::ReadOnly);
  function_->addParamAttr(3, llvm::Attribute::NoAlias);
  function_->addParamAttr(
      3, llvm::Attribute::getWithAlignment(b_.getContext(), llvm::Align(64)));
  b_.SetInsertPoint(NewBlock("entry"));
}

llvm::BasicBlock* FunctionEmitter::NewBlock(const std::string& name) {
  return BasicBlock::Create(b_.getContext(), name, function_);
}

llvm::AllocaInst* FunctionEmitter::NewVariable(llvm::Type* type,
                                               const std::string& name) {
  llvm::IRBuilderBase::InsertPointGuard guard(b_);
  BasicBlock& entry = function_->getEntryBlock();
  b_.SetInsertPoint(&entry, entry.begin());
  variables_.push_back(b_.CreateAlloca(type, nullptr, name));
  return variables_.back();
}

void FunctionEmitter::PromoteVariables() {
  for (llvm::AllocaInst* variable : variables_) {
    TW_CHECK(llvm::isAllocaPromotable(variable));
  }
  if (variables_.empty()) return;
  llvm::DominatorTree dominators(*function_);
  llvm::PromoteMemToReg(variables_, dominators);
}

absl::StatusOr<Value*> FunctionEmitter::Loop(
    Value* begin, Value* end, int64_t step,
    const std::function<absl::Status(Value*)>& body) {
  llvm::Type* type = begin->getType();
  Value* enters = b_.CreateICmpSLT(begin, end);
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(enters);
  if (known != nullptr && known->isZero()) return begin;
  // The counter is a variable like any other: a phi with one value so far would
  // be simplified to that value.
  llvm::AllocaInst* counter = NewVariable(type, "i");
  b_.CreateStore(begin, counter);
  BasicBlock* head = NewBlock("loop");
  BasicBlock* exit = NewBlock("exit");
  if (known != nullptr) {
    // No edge around the loop: it would hide from the code generator that
    // accumulators pass through.
    b_.CreateBr(head);
  } else {
    b_.CreateCondBr(enters, head, exit);
  }
  b_.SetInsertPoint(head);
  Value* var = b_.CreateLoad(type, counter);
  TW_RETURN_IF_ERROR(body(var));
  Value* next = b_.CreateNSWAdd(var, llvm::ConstantInt::getSigned(type, step));
  b_.CreateStore(next, counter);
  b_.CreateCondBr(b_.CreateICmpSLT(next, end), head, exit);
  exit->moveAfter(b_.GetInsertBlock());
  b_.SetInsertPoint(exit);
  return b_.CreateLoad(type, counter);
}

}  // namespace tilewright::cpu
