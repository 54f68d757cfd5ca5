#include "backends/cpu/codegen/llvm/fatal_errors.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "backends/cpu/codegen/x86/x86_target.h"
#include "backends/cpu/codegen/llvm/machine_code.h"
#include "backends/spec/load_spec.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ErrorHandling.h"

namespace tilewright::cpu {
namespace {

using ::testing::HasSubstr;

// A module whose function does nothing, or calls an instruction of AVX-512 that
// x86-64-v2 does not have: the back end cannot select it.
struct Job {
  absl::Status Run(bool impossible) {
    TW_ASSIGN_OR_RETURN(const DeviceSpec spec, LoadSpec("cpu_x86_64_v2"));
    TW_ASSIGN_OR_RETURN(const CpuTarget target, X86TargetOf(spec));
    TW_ASSIGN_OR_RETURN(const auto machine, CreateTargetMachine(target));
    module.setTargetTriple(machine->getTargetTriple().str());
    module.setDataLayout(machine->createDataLayout());
    llvm::IRBuilder<> b(context);
    auto* function = llvm::Function::Create(
        llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false),
        llvm::Function::ExternalLinkage, "f", module);
    b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
    if (impossible) {
      auto* vector = llvm::FixedVectorType::get(b.getFloatTy(), 16);
      auto* value = b.CreateLoad(vector, function->getArg(0));
      auto* scaled = b.CreateIntrinsic(
          vector, llvm::Intrinsic::x86_avx512_mask_scalef_ps_512,
          {value, value, value, b.getInt16(-1), b.getInt32(4)});
      b.CreateStore(scaled, function->getArg(0));
    }
    b.CreateRetVoid();
    return CompileToObject(target, module).status();
  }

  llvm::LLVMContext context;
  llvm::Module module{"test", context};
};

TEST(FatalErrorsTest, WhatTheBackEndCannotSelectIsAStatus) {
  for (int i = 0; i < 3; ++i) {  // and the next one works again
    auto* lost = new Job;
    absl::Status status;
    EXPECT_FALSE(RunToFatalError([&] { return lost->Run(true); }, status));
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInternal,
                                 HasSubstr("LLVM gives up")));
    Job good;
    EXPECT_TRUE(RunToFatalError([&] { return good.Run(false); }, status));
    TW_EXPECT_OK(status);
  }
}

TEST(FatalErrorsTest, EveryThreadRecoversItsOwn) {
  std::string messages[4];
  absl::Status after[4];
  std::thread threads[4];
  for (int t = 0; t < 4; ++t) {
    threads[t] = std::thread([t, &messages, &after] {
      absl::Status status;
      auto* lost = new Job;
      EXPECT_FALSE(RunToFatalError([&] { return lost->Run(true); }, status));
      RunToFatalError(
          [t]() -> absl::Status {
            llvm::report_fatal_error(llvm::Twine("number ") + llvm::Twine(t));
          },
          status);
      messages[t] = std::string(status.message());
      Job good;
      RunToFatalError([&] { return good.Run(false); }, after[t]);
    });
  }
  for (int t = 0; t < 4; ++t) {
    threads[t].join();
    EXPECT_THAT(messages[t], HasSubstr("number " + std::to_string(t)));
    TW_EXPECT_OK(after[t]);
  }
}

// An object on the stack of work that gives up.
struct Canary {
  explicit Canary(bool* destroyed) : destroyed(destroyed) {}
  ~Canary() { *destroyed = true; }
  const uint64_t word = 0x0123456789abcdef;
  bool* const destroyed;
};

TEST(FatalErrorsTest, NoFrameIsUnwoundAndNoneIsReused) {
  bool destroyed = false;
  const Canary* canary = nullptr;
  absl::Status status;
  EXPECT_FALSE(RunToFatalError(
      [&]() -> absl::Status {
        const Canary here(&destroyed);
        canary = &here;
        llvm::report_fatal_error("in the middle");
      },
      status));
  for (int i = 0; i < 3; ++i) {  // would overwrite a stack that was given up
    Job good;
    EXPECT_TRUE(RunToFatalError([&] { return good.Run(false); }, status));
    TW_EXPECT_OK(status);
    TW_EXPECT_OK(Job().Run(false));
  }
  ASSERT_NE(canary, nullptr);
  EXPECT_EQ(canary->word, 0x0123456789abcdef);
  EXPECT_EQ(canary->destroyed, &destroyed);
  EXPECT_FALSE(destroyed);
}

TEST(FatalErrorsTest, WorkMayUseMoreStackThanTheCallerHas) {
  absl::Status status;
  EXPECT_TRUE(RunToFatalError(
      [] {
        volatile char deep[12 << 20];
        for (size_t i = 0; i < sizeof deep; i += 4096) deep[i] = 1;
        return deep[sizeof deep - 4096] == 1 ? absl::OkStatus()
                                             : absl::InternalError("lost");
      },
      status));
  TW_EXPECT_OK(status);
}

TEST(FatalErrorsTest, TheStatusOfTheWorkIsPassedOn) {
  absl::Status status;
  EXPECT_TRUE(RunToFatalError([] { return absl::AbortedError("own business"); },
                              status));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kAborted, "own business"));
}

// In a process of its own: afterwards nothing can be compiled there.
TEST(FatalErrorsDeathTest, TooManyFatalErrorsAreRefused) {
  const auto give_up_until_refused = [] {
    absl::Status status;
    for (int i = 0; i < kMostFatalErrors; ++i) {
      if (RunToFatalError(
              []() -> absl::Status { llvm::report_fatal_error("again"); },
              status))
        return 1;
    }
    bool begun = false;
    const bool finished = RunToFatalError(
        [&] {
          begun = true;
          return absl::OkStatus();
        },
        status);
    return finished && !begun && absl::IsResourceExhausted(status) ? 0 : 2;
  };
  EXPECT_EXIT(std::_Exit(give_up_until_refused()), ::testing::ExitedWithCode(0),
              "");
}

TEST(FatalErrorsDeathTest, WithoutRecoveryTheProcessEnds) {
  absl::Status status;
  RunToFatalError([] { return absl::OkStatus(); }, status);
  EXPECT_DEATH(llvm::report_fatal_error("nobody listens", false),
               "nobody listens");
}

}  // namespace
}  // namespace tilewright::cpu
