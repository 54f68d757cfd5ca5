// Kernels with threads: what the verifier refuses, what the interpreter
// computes, and which races it finds.
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/testing/draw_threaded.h"
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

TEST(ThreadsTest, HandWrittenKernelsComputeWhatTheySay) {
  for (const ThreadedCase& test : AllThreadedCases()) {
    std::vector<std::string> args = test.args;
    TW_ASSERT_OK(InterpretScalarKernel(test.kernel, absl::MakeSpan(args), 0,
                                       test.kernel.num_tasks))
        << test.kernel.ToString();
    EXPECT_TRUE(args == test.expected) << test.kernel.ToString();
  }
}

TEST(ThreadsTest, DrawnKernelsHaveNoRace) {
  int barriers = 0, exchanges = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const DrawnThreaded drawn = DrawThreaded(seed);
    TW_ASSERT_OK(Interpret(drawn.kernel, drawn.args))
        << drawn.kernel.ToString();
    const std::string text = drawn.kernel.ToString();
    barriers += text.find("barrier") != std::string::npos;
    exchanges += text.find("exchange") != std::string::npos;
  }
  EXPECT_GT(barriers, 200);
  EXPECT_GT(exchanges, 100);
}

TEST(ThreadsTest, TheListingShowsThreads) {
  ScalarBuilder b("k", 3);
  const int y = b.AddArgument("y", DType::kFloat32, Role::kOutput, 3 * 64);
  b.AddScratch("s", DType::kFloat32, 64);
  const Reg thread = b.AddThreads(64, 32);
  b.AddPerThread("own", DType::kFloat32, 4);
  b.Barrier();
  const Reg value = b.ExchangeXor(b.Cast(DType::kFloat32, thread), 4);
  b.Store(y, thread, 0, b.ExchangeLane(value, thread));
  EXPECT_EQ(std::move(b).Finish().ToString(),
            "kernel k tasks 3 threads 64 warp 32 scratch 256\n"
            "  buffer y#0: f32[192] output\n"
            "  buffer s#1: f32[64] local at 0\n"
            "  buffer own#2: f32[4] local per thread\n"
            "  %task.0 = task\n"
            "  %thread.1 = thread\n"
            "  barrier\n"
            "  %2: f32 = cast %thread.1\n"
            "  %3: f32 = exchange %2 xor 4\n"
            "  %4: f32 = exchange %3 lane %thread.1\n"
            "  store y#0[%thread.1] = %4\n");
}

// A kernel whose body stands between a fill of shared memory by all threads
// and the end: s[thread] = thread.
struct Frame {
  explicit Frame(int threads = 64) : b("frame", 2) {
    x = b.AddArgument("x", DType::kInt64, Role::kInput, 8);
    y = b.AddArgument("y", DType::kInt64, Role::kOutput, 2 * threads);
    s = b.AddScratch("s", DType::kInt64, threads);
    thread = b.AddThreads(threads, 32);
    b.Store(s, thread, 0, thread);
  }
  absl::Status Verify() && {
    return VerifyScalarKernel(std::move(b).Finish());
  }
  absl::Status Run() && {
    const ScalarKernel kernel = std::move(b).Finish();
    TW_EXPECT_OK(VerifyScalarKernel(kernel));
    return Interpret(kernel, {std::string(64, 1),
                              std::string(kernel.buffers[y].elements * 8, 1)});
  }
  Reg Less(Reg a, int64_t than) { return b.Emit(Op::kLt, {a, b.Int(than)}); }

  ScalarBuilder b;
  int x, y, s;
  Reg thread;
};

testing::Matcher<absl::Status> Parted(const char* what) {
  return StatusIs(StatusCode::kInternal,
                  AllOf(HasSubstr(what), HasSubstr("may have parted")));
}

TEST(ThreadsVerifierTest, NoBarrierUnderAConditionOfTheThread) {
  Frame f;
  f.b.BeginIf(f.Less(f.thread, 32));
  f.b.Barrier();
  f.b.EndIf();
  EXPECT_THAT(std::move(f).Verify(), Parted("a barrier"));
}

TEST(ThreadsVerifierTest, NoExchangeInALoopOfAThreadsOwnLength) {
  Frame f;
  f.b.BeginForRegs(f.b.Int(0), f.thread);
  f.b.ExchangeXor(f.thread, 1);
  f.b.EndFor();
  EXPECT_THAT(std::move(f).Verify(), Parted("an exchange"));
}

TEST(ThreadsVerifierTest, TasksInputsAndConstantsKeepThreadsTogether) {
  Frame f;
  f.b.BeginIf(f.Less(f.b.task(), 1));
  f.b.BeginForRegs(f.b.Int(0), f.b.Load(f.x, kNoReg, 0));
  f.b.Barrier();
  f.b.EndFor();
  f.b.EndIf();
  TW_EXPECT_OK(std::move(f).Verify());
}

TEST(ThreadsVerifierTest, WhatIsReadFromWrittenMemoryMayDiffer) {
  Frame f;
  f.b.Barrier();
  f.b.BeginIf(f.Less(f.b.Load(f.s, kNoReg, 0), 1));
  f.b.Barrier();
  f.b.EndIf();
  EXPECT_THAT(std::move(f).Verify(), Parted("a barrier"));
}

// The variable differs by where it was assigned, not by what; a turn of the
// loop later it decides.
TEST(ThreadsVerifierTest, VariablesDifferAfterBranchesAndAcrossTurns) {
  Frame f;
  const Reg v = f.b.Variable(DType::kInt64, 1, "v");
  f.b.Assign(v, f.b.Int(0));
  f.b.BeginFor(0, 4);
  f.b.BeginIf(f.Less(v, 1));
  f.b.Barrier();
  f.b.EndIf();
  f.b.BeginIf(f.Less(f.thread, 5));
  f.b.Assign(v, f.b.Int(7));
  f.b.EndIf();
  f.b.EndFor();
  EXPECT_THAT(std::move(f).Verify(), Parted("a barrier"));
}

TEST(ThreadsVerifierTest, ExchangesFitTheWarp) {
  Frame small(24);
  small.b.ExchangeXor(small.thread, 1);
  EXPECT_THAT(std::move(small).Verify(),
              StatusIs(StatusCode::kInternal, HasSubstr("24 threads")));
  Frame far;
  far.b.ExchangeXor(far.thread, 32);
  EXPECT_THAT(std::move(far).Verify(),
              StatusIs(StatusCode::kInternal, HasSubstr("xor 32")));
}

TEST(ThreadsVerifierTest, BarriersNeedThreads) {
  ScalarBuilder b("none");
  b.Barrier();
  EXPECT_THAT(VerifyScalarKernel(std::move(b).Finish()),
              StatusIs(StatusCode::kInternal, HasSubstr("without threads")));
}

TEST(ThreadsInterpreterTest, AReadBesideAWriteIsARace) {
  Frame f;
  f.b.Store(f.y, f.thread, 0,
            f.b.Load(f.s, f.b.Emit(Op::kFloorMod,
                                   {f.b.Add(f.thread, f.b.Int(63)),
                                    f.b.Int(64)}),
                     0));
  // Thread 0 reads what nobody wrote yet: that comes before the race.
  EXPECT_THAT(std::move(f).Run(),
              StatusIs(StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("element 63 of buffer s"),
                             HasSubstr("thread 0"))));
}

TEST(ThreadsInterpreterTest, RacesNameBufferElementAndBothThreads) {
  Frame f;
  f.b.Barrier();
  const Reg next = f.b.Emit(
      Op::kFloorMod, {f.b.Add(f.thread, f.b.Int(1)), f.b.Int(64)});
  const Reg value = f.b.Load(f.s, next, 0);
  f.b.Store(f.s, f.thread, 0, value);
  EXPECT_THAT(
      std::move(f).Run(),
      StatusIs(StatusCode::kAborted,
               AllOf(HasSubstr("thread 1 writes element 1 of buffer s"),
                     HasSubstr("which thread 0 reads"), HasSubstr("task 0"))));
}

TEST(ThreadsInterpreterTest, TwoWritesAreARaceEvenOfTheSameValue) {
  Frame f;
  f.b.Store(f.y, f.b.task(), 0, f.b.Int(5));
  EXPECT_THAT(
      std::move(f).Run(),
      StatusIs(StatusCode::kAborted,
               AllOf(HasSubstr("thread 1 writes element 0 of buffer y"),
                     HasSubstr("which thread 0 writes"))));
}

TEST(ThreadsInterpreterTest, BlocksHandEachOtherNothing) {
  Frame f;
  f.b.Store(f.y, f.thread, 0, f.thread);
  EXPECT_THAT(std::move(f).Run(),
              StatusIs(StatusCode::kAborted,
                       AllOf(HasSubstr("task 1, thread 0"),
                             HasSubstr("which another block writes"))));
}

TEST(ThreadsInterpreterTest, AReaderThatReadsTooDoesNotHideAnother) {
  Frame f;
  f.b.Barrier();
  const Reg first = f.b.Load(f.s, kNoReg, 0);  // by all
  f.b.BeginIf(f.Less(f.thread, 1));
  f.b.Store(f.s, kNoReg, 0, f.b.Add(first, first));
  f.b.EndIf();
  EXPECT_THAT(std::move(f).Run(),
              StatusIs(StatusCode::kAborted,
                       HasSubstr("thread 1 reads element 0 of buffer s, which "
                                 "thread 0 writes")));
  // The last thread's write comes behind all reads.
  Frame g;
  g.b.Barrier();
  const Reg value = g.b.Load(g.s, kNoReg, 0);
  g.b.BeginIf(g.b.Emit(Op::kGe, {g.thread, g.b.Int(63)}));
  g.b.Store(g.s, kNoReg, 0, value);
  g.b.EndIf();
  EXPECT_THAT(std::move(g).Run(),
              StatusIs(StatusCode::kAborted,
                       HasSubstr("thread 63 writes element 0 of buffer s, "
                                 "which thread 0 reads")));
}

TEST(ThreadsInterpreterTest, AnExchangeOrdersNoMemory) {
  Frame f;
  f.b.ExchangeXor(f.thread, 1);
  f.b.Store(f.y, f.thread, 0,
            f.b.Load(f.s, f.b.Emit(Op::kXor, {f.thread, f.b.Int(1)}), 0));
  EXPECT_THAT(std::move(f).Run(),
              StatusIs(StatusCode::kAborted, HasSubstr("buffer s")));
}

TEST(ThreadsInterpreterTest, EveryThreadHasItsOwnScratchAndVariables) {
  Frame f;
  const int own = f.b.AddPerThread("own", DType::kInt64, 2);
  f.b.Store(own, kNoReg, 1, f.thread);
  f.b.Barrier();
  f.b.Store(f.y, f.b.Add(f.b.Mul(f.b.task(), f.b.Int(64)), f.thread), 0,
            f.b.Load(own, kNoReg, 1));
  const ScalarKernel kernel = std::move(f.b).Finish();
  std::vector<std::string> args = {std::string(64, 1), std::string(1024, 1)};
  int64_t seen = 0;
  const AccessCallback count = [&](int buffer, int64_t, int64_t, bool) {
    EXPECT_NE(buffer, own);
    ++seen;
  };
  TW_ASSERT_OK(
      InterpretScalarKernel(kernel, absl::MakeSpan(args), 0, 2, count));
  EXPECT_EQ(seen, 2 * 64 * 2);
  for (int64_t i = 0; i < 128; ++i) {
    int64_t value;
    std::memcpy(&value, args[1].data() + 8 * i, 8);
    EXPECT_EQ(value, i % 64);
  }
}

}  // namespace
}  // namespace tilewright::kernel_ir
