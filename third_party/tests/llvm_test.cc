// LLVM 19 compiles in-process, and LLD 19 links in-process, on this host.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "lld/Common/Driver.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace tilewright {
namespace {

TEST(LlvmTest, AFunctionIsCompiledAndRun) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>("m", *context);
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(*context),
                                       {llvm::Type::getInt32Ty(*context)},
                                       /*isVarArg=*/false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                          "next", module.get());
  llvm::IRBuilder<> builder(
      llvm::BasicBlock::Create(*context, "entry", function));
  builder.CreateRet(
      builder.CreateAdd(function->getArg(0), builder.getInt32(1)));
  auto jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  llvm::cantFail(jit->addIRModule(
      llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
  auto* next = llvm::cantFail(jit->lookup("next")).toPtr<int(int)>();
  EXPECT_EQ(next(41), 42);
}

TEST(LldTest, TheElfLinkerRunsInProcess) {
  std::string out, err;
  llvm::raw_string_ostream out_stream(out), err_stream(err);
  const lld::Result result =
      lld::lldMain({"ld.lld", "--version"}, out_stream, err_stream,
                   {{lld::Gnu, &lld::elf::link}});
  EXPECT_EQ(result.retCode, 0) << err;
  EXPECT_NE(out_stream.str().find("LLD 19"), std::string::npos) << out;
}

}  // namespace
}  // namespace tilewright
