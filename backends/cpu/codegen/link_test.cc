#include "backends/cpu/codegen/llvm/link.h"

#include <memory>
#include <string>

#include "backends/cpu/codegen/x86/x86_target.h"
#include "backends/cpu/codegen/llvm/machine_code.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace tilewright::cpu {
namespace {

using ::testing::HasSubstr;

// An object with a function `f` that calls `callee`, if not empty.
absl::StatusOr<MachineCode> ObjectThatCalls(const std::string& callee) {
  const absl::StatusOr<DeviceSpec> spec = LoadSpec("cpu_x86_64_v2");
  const absl::StatusOr<CpuTarget> target = X86TargetOf(*spec);
  llvm::LLVMContext context;
  llvm::Module module("test", context);
  auto machine = CreateTargetMachine(*target);
  module.setTargetTriple((*machine)->getTargetTriple().str());
  module.setDataLayout((*machine)->createDataLayout());
  llvm::IRBuilder<> b(context);
  auto* type = llvm::FunctionType::get(b.getVoidTy(), false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                          "f", module);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  if (!callee.empty()) b.CreateCall(module.getOrInsertFunction(callee, type));
  b.CreateRetVoid();
  return CompileToObject(*target, module);
}

TEST(LinkTest, AnObjectWithoutCallsBecomesASharedObject) {
  TW_ASSERT_OK_AND_ASSIGN(const MachineCode code, ObjectThatCalls(""));
  TW_ASSERT_OK_AND_ASSIGN(const std::string bytes,
                          LinkSharedObject(code.object));
  EXPECT_EQ(bytes.substr(1, 3), "ELF");
  TW_ASSERT_OK_AND_ASSIGN(const auto sizes, CodeBytes(code.object));
  ASSERT_EQ(sizes.count("f"), 1u);
  EXPECT_GT(sizes.at("f"), 0);
}

TEST(LinkTest, ACallOutOfTheModuleIsAnErrorThatNamesIt) {
  TW_ASSERT_OK_AND_ASSIGN(const MachineCode code, ObjectThatCalls("memset"));
  EXPECT_THAT(LinkSharedObject(code.object),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("memset")));
}

TEST(LinkTest, GarbageIsAnErrorAndTheLinkerStaysUsable) {
  EXPECT_THAT(LinkSharedObject("garbage"),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("linking")));
  EXPECT_THAT(CodeBytes("garbage"),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("")));
  TW_ASSERT_OK_AND_ASSIGN(const MachineCode code, ObjectThatCalls(""));
  EXPECT_THAT(LinkSharedObject(code.object), IsOk());
}

}  // namespace
}  // namespace tilewright::cpu
