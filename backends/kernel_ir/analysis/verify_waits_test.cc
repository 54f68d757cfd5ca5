#include "backends/kernel_ir/analysis/verify_waits.h"

#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/kernel_ir/mutate.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/testing/threaded_cases.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::kernel_ir {
namespace {

using absl::StatusCode;
using ::testing::AllOf;
using ::testing::HasSubstr;

absl::Status Interpret(const ScalarKernel& kernel,
                       std::vector<std::string> args) {
  return InterpretScalarKernel(kernel, absl::MakeSpan(args), 0,
                               kernel.num_tasks);
}

// s[thread] = x[thread], asynchronously, then what a test does, and
// y[thread] = s[63 - thread].
struct Frame {
  Frame() : b("frame") {
    x = b.AddArgument("x", DType::kFloat32, Role::kInput, 128);
    y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 64);
    s = b.AddScratch("s", DType::kFloat32, 128);
    thread = b.AddThreads(64, 32);
    Copy(0);
  }
  void Copy(int64_t at) {
    AsyncCopyInst copy;
    copy.to = s;
    copy.to_offset = copy.from_offset = thread;
    copy.to_constant = copy.from_constant = at;
    copy.from = x;
    b.AsyncCopy(copy);
  }
  // By the verifier and by the interpreter.
  std::pair<absl::Status, absl::Status> Verdicts() && {
    b.Store(y, thread, 0, b.Load(s, b.Sub(b.Int(63), thread), 0));
    const ScalarKernel kernel = std::move(b).Finish();
    TW_EXPECT_OK(VerifyScalarKernel(kernel));
    return {VerifyWaits(kernel),
            Interpret(kernel, {std::string(512, 1), std::string(256, 1)})};
  }

  ScalarBuilder b;
  int x, y, s;
  Reg thread;
};

TEST(VerifyWaitsTest, AWaitAndABarrierLieBetween) {
  Frame f;
  f.b.Commit();
  f.b.Wait(0);
  f.b.Barrier();
  const auto [verified, ran] = std::move(f).Verdicts();
  TW_EXPECT_OK(verified);
  TW_EXPECT_OK(ran);
}

TEST(VerifyWaitsTest, ABarrierAloneLosesTheWait) {
  Frame f;
  f.b.Commit();
  f.b.Barrier();
  const auto [verified, ran] = std::move(f).Verdicts();
  EXPECT_THAT(verified,
              StatusIs(StatusCode::kInternal,
                       AllOf(HasSubstr("lost wait"), HasSubstr("instruction 1"),
                             HasSubstr("copies to s"))));
  EXPECT_THAT(ran, StatusIs(StatusCode::kDataLoss,
                            AllOf(HasSubstr("lost wait: thread 0 reads element "
                                            "63 of buffer s, which thread 63"),
                                  HasSubstr("task 0"))));
}

TEST(VerifyWaitsTest, AWaitAloneIsARace) {
  Frame f;
  f.b.Commit();
  f.b.Wait(0);
  const auto [verified, ran] = std::move(f).Verdicts();
  EXPECT_THAT(verified,
              StatusIs(StatusCode::kInternal, HasSubstr("without a barrier")));
  // Thread 63 has not come to its copy when thread 0 reads.
  EXPECT_THAT(ran, StatusIs(StatusCode::kFailedPrecondition));
}

TEST(VerifyWaitsTest, WhatIsNotCommittedIsNotWaitedFor) {
  Frame f;
  f.b.Wait(0);
  f.b.Barrier();
  const auto [verified, ran] = std::move(f).Verdicts();
  EXPECT_THAT(verified, StatusIs(StatusCode::kInternal));
  EXPECT_THAT(ran, StatusIs(StatusCode::kDataLoss));
}

TEST(VerifyWaitsTest, TheLastGroupMayStayUnderWay) {
  for (const int pending : {1, 2}) {
    Frame f;
    f.b.Commit();
    f.Copy(64);
    f.b.Commit();
    f.b.Wait(pending);
    f.b.Barrier();
    const auto [verified, ran] = std::move(f).Verdicts();
    EXPECT_EQ(verified.ok(), pending == 1) << verified;
    EXPECT_EQ(ran.ok(), pending == 1) << ran;
  }
}

// Among writers too.
TEST(VerifyWaitsTest, NobodyWritesWhatIsUnderWay) {
  Frame f;
  f.b.Commit();
  f.b.Barrier();
  f.b.Store(f.s, f.thread, 0, f.b.Float(1));
  f.b.Wait(0);
  f.b.Barrier();
  EXPECT_THAT(std::move(f).Verdicts().second,
              StatusIs(StatusCode::kDataLoss, HasSubstr("writes element 0")));
}

TEST(VerifyWaitsTest, CopiesAreWhatTheVerifierKnows) {
  const auto fault = [](auto change) {
    Frame f;
    AsyncCopyInst copy;
    copy.to = f.s;
    copy.from = f.x;
    copy.to_offset = copy.from_offset = f.thread;
    change(f, copy);
    f.b.AsyncCopy(copy);
    return VerifyScalarKernel(std::move(f.b).Finish());
  };
  TW_EXPECT_OK(fault([](Frame&, AsyncCopyInst&) {}));
  EXPECT_THAT(fault([](Frame& f, AsyncCopyInst& c) { c.from = f.s; }),
              StatusIs(StatusCode::kInternal, HasSubstr("may change")));
  EXPECT_THAT(fault([](Frame& f, AsyncCopyInst& c) { c.to = f.y; }),
              StatusIs(StatusCode::kInternal, HasSubstr("no block shares")));
  EXPECT_THAT(fault([](Frame& f, AsyncCopyInst& c) {
                c.to = f.b.AddScratch("h", DType::kFloat16, 64);
              }),
              StatusIs(StatusCode::kInternal, HasSubstr("f32 to f16")));
  EXPECT_THAT(
      fault([](Frame& f, AsyncCopyInst& c) { c.mask = f.b.Bool(true, 4); }),
      StatusIs(StatusCode::kInternal, HasSubstr("mask")));
  EXPECT_THAT(fault([](Frame&, AsyncCopyInst& c) {
                c.to_offset = kNoReg;
                c.to_constant = 128;
              }),
              StatusIs(StatusCode::kInternal, HasSubstr("outside")));
  EXPECT_THAT(fault([](Frame& f, AsyncCopyInst&) {
                f.b.BeginIf(f.b.Emit(Op::kLt, {f.thread, f.b.Int(8)}));
                f.b.Wait(0);
                f.b.EndIf();
              }),
              StatusIs(StatusCode::kInternal, HasSubstr("a wait where")));
}

// Mutants by kind: the interpreter tells which have lost a wait. What copies
// write on top of each other is its matter alone.
TEST(VerifyWaitsTest, RefusesWhereverTheInterpreterFindsALostWait) {
  struct Kind {
    int all = 0, lost = 0, other = 0, refused = 0;
  };
  std::map<std::string, Kind> kinds;
  for (const int buffers : {2, 3, 4}) {
    for (const int piece : {1, 2, 4}) {
      const ThreadedCase test = SumCopiedRows(16, 9, buffers, piece);
      TW_ASSERT_OK(VerifyWaits(test.kernel)) << test.kernel.ToString();
      for (const Mutant& m : Mutants(test.kernel, 100, 1)) {
        const absl::Status ran = Interpret(m.kernel, test.args);
        const absl::Status verified = VerifyWaits(m.kernel);
        Kind& kind = kinds[m.name.substr(m.name.find(": ") + 2)];
        ++kind.all;
        kind.lost += absl::IsDataLoss(ran);
        kind.other += !ran.ok() && !absl::IsDataLoss(ran);
        kind.refused += !verified.ok();
        if (absl::IsDataLoss(ran) &&
            ran.message().find(" reads ") != absl::string_view::npos)
          EXPECT_FALSE(verified.ok()) << m.name << "\n" << m.kernel.ToString();
      }
    }
  }
  for (const auto& [name, kind] : kinds)
    std::cout << name << ": " << kind.all << ", " << kind.lost
              << " lost waits and " << kind.other << " other mistakes, "
              << kind.refused << " refused\n";
  for (const char* name :
       {"wait dropped", "wait for one group less", "commit dropped"}) {
    EXPECT_GE(kinds[name].all, 9) << name;
    EXPECT_EQ(kinds[name].lost, kinds[name].all) << name;
  }
}

}  // namespace
}  // namespace tilewright::kernel_ir
