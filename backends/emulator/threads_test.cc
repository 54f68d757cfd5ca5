// Kernels with threads as GPU text: the emulator computes, bit for bit, what
// the scalar tier's interpreter computes, and both find the same mistakes.
//
// TILEWRIGHT_RANDOM_CASES sets the number of drawn kernels over all shards (120
// by default) and TILEWRIGHT_MUTANTS that of mutants (720).
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "backends/emulator/kernel_jobs.h"
#include "backends/gpu_text/prelude.h"
#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/testing/draw_threaded.h"
#include "backends/kernel_ir/testing/threaded_cases.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::emulator {
namespace {

using absl::StatusCode;
using kernel_ir::Reg;
using kernel_ir::Role;
using kernel_ir::ScalarBuilder;
using kernel_ir::ScalarKernel;
using kernel_ir::ThreadedCase;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kParts = 4;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

TEST(ThreadsTest, HandWrittenKernelsRunInBothDialectsAndModes) {
  const std::vector<ThreadedCase> cases = kernel_ir::AllThreadedCases();
  std::vector<Job> jobs;
  for (const ThreadedCase& test : cases)
    jobs.push_back({test.kernel, test.args});
  for (const auto dialect :
       {gpu_text::Dialect::kCuda, gpu_text::Dialect::kHip}) {
    for (const bool checked : {false, true}) {
      const std::vector<Result> results =
          Emulate(jobs, Options(dialect, checked));
      for (size_t i = 0; i < cases.size(); ++i) {
        EXPECT_EQ(Difference(cases[i].kernel, results[i], cases[i].expected),
                  "")
            << cases[i].kernel.name << (checked ? ", checked, " : ", ")
            << gpu_text::Name(dialect);
      }
    }
  }
}

// Mutants of kernels that copy asynchronously, of each all of its wait.
TEST(ThreadsTest, LostWaitsAreFound) {
  std::vector<Job> jobs;
  for (const int buffers : {2, 3, 4}) {
    for (const int piece : {1, 2, 4}) {
      ThreadedCase test = kernel_ir::SumCopiedRows(16, 9, buffers, piece);
      jobs.push_back({std::move(test.kernel), std::move(test.args)});
    }
  }
  MutantTally tally;
  AddMutants(jobs, 40, 1, tally);
  for (const std::string& disagreement : tally.disagreements)
    ADD_FAILURE() << disagreement;
  std::cout << tally.ToString();
  for (const char* kind : {"wait dropped", "wait for one group less",
                           "commit dropped", "barrier dropped"}) {
    EXPECT_GE(tally.kinds[kind].all, 9) << kind;
    EXPECT_EQ(tally.kinds[kind].caught, tally.kinds[kind].all) << kind;
  }
}

class DrawnThreadsTest : public ::testing::TestWithParam<int> {};

TEST_P(DrawnThreadsTest, TextsComputeWhatTheInterpreterComputes) {
  const int64_t cases = FromEnvironment("TILEWRIGHT_RANDOM_CASES", 120);
  const int64_t end = cases * (GetParam() + 1) / kParts;
  for (int64_t seed = cases * GetParam() / kParts; seed < end;) {
    std::vector<Job> jobs;
    std::vector<Result> expected;
    for (; seed < end && jobs.size() < kKernelsPerModule; ++seed) {
      const auto drawn = kernel_ir::DrawThreaded(static_cast<uint64_t>(seed));
      jobs.push_back({drawn.kernel, drawn.args});
      expected.push_back(Interpret(jobs.back()));
      TW_ASSERT_OK(expected.back().status()) << drawn.kernel.ToString();
    }
    for (const auto& options : {Options(gpu_text::Dialect::kCuda, true),
                                Options(gpu_text::Dialect::kHip, false)}) {
      const std::vector<Result> results = Emulate(jobs, options);
      for (size_t i = 0; i < jobs.size(); ++i) {
        ASSERT_EQ(Difference(jobs[i].kernel, results[i], expected[i]), "")
            << jobs[i].kernel.ToString();
      }
    }
  }
}

TEST_P(DrawnThreadsTest, InterpreterAndCheckedTextsFindTheSameMistakes) {
  const int64_t count = FromEnvironment("TILEWRIGHT_MUTANTS", 720) / kParts;
  std::vector<Job> originals;
  for (ThreadedCase& test : kernel_ir::AllThreadedCases())
    originals.push_back({std::move(test.kernel), std::move(test.args)});
  MutantTally tally;
  for (uint64_t seed = GetParam() + 1; tally.mutants < count; seed += kParts) {
    // Mutants are made of one kernel by hand and two drawn ones: nearly every
    // kind that they have.
    std::vector<Job> from = {originals[seed % originals.size()]};
    for (const uint64_t other : {2 * seed, 2 * seed + 1}) {
      auto drawn = kernel_ir::DrawThreaded(other);
      from.push_back({std::move(drawn.kernel), std::move(drawn.args)});
    }
    AddMutants(from, 20, seed, tally);
  }
  for (const std::string& disagreement : tally.disagreements)
    ADD_FAILURE() << disagreement;
  std::cout << tally.ToString();
  EXPECT_EQ(tally.unmade, 0);
  EXPECT_GT(tally.races, 0);
  EXPECT_GT(tally.kinds["barrier dropped"].all, 0);
  // These are right to the interpreter too: drawn kernels fill more of a buffer
  // than they read, and tiles that fit need no masks.
  EXPECT_LE(static_cast<int64_t>(tally.missed.size()) * 10, tally.mutants);
  for (const char* kind :
       {"barrier dropped", "own lane instead of another's", "lane xor halved",
        "lane xor doubled", "lane xor 1"}) {
    EXPECT_GE(tally.kinds[kind].caught * 100, tally.kinds[kind].all * 95)
        << kind;
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, DrawnThreadsTest,
                         ::testing::Range(0, kParts));

// s[thread] = thread, then a mistake.
struct Frame {
  Frame() : b("frame", 2) {
    y = b.AddArgument("y", DType::kInt32, Role::kOutput, 128);
    s = b.AddScratch("s", DType::kInt32, 64);
    thread = b.AddThreads(64, 32);
    value = b.Cast(DType::kInt32, thread);
    b.Store(s, thread, 0, value);
  }
  absl::Status Run(bool checked = true) && {
    return Emulate({{std::move(b).Finish(), {std::string(512, 1)}}},
                   Options(gpu_text::Dialect::kCuda, checked))[0]
        .status();
  }
  ScalarBuilder b;
  int y, s;
  Reg thread, value;
};

TEST(ThreadReportsTest, RacesHaveBothLinesAndThreads) {
  Frame f;
  f.b.Barrier();
  f.b.Store(f.s, f.b.Sub(f.b.Int(63), f.thread), 0, f.b.Load(f.s, f.thread, 0));
  EXPECT_THAT(
      std::move(f).Run(),
      StatusIs(StatusCode::kAborted,
               AllOf(HasSubstr("line 9, block 0, thread 32: race: reads "
                               "element 32 of a buffer of 64, which thread 31 "
                               "writes in line 9 without a barrier between"),
                     HasSubstr("s[63 - thread] = s[thread];"))));
}

TEST(ThreadReportsTest, BlocksShareNoElementOfAnOutput) {
  Frame f;
  f.b.Store(f.y, f.thread, 0, f.value);
  EXPECT_THAT(
      std::move(f).Run(),
      StatusIs(StatusCode::kAborted,
               AllOf(HasSubstr("block 1, thread 0: race: writes element 0 of a "
                               "buffer of 128"),
                     HasSubstr("which thread 0 of block 0 writes"))));
}

TEST(ThreadReportsTest, SharedMemoryIsWrittenBeforeItIsRead) {
  Frame f;
  const int other = f.b.AddScratch("other", DType::kInt32, 64);
  f.b.Barrier();
  f.b.Store(f.y, f.thread, 0, f.b.Load(other, f.thread, 0));
  EXPECT_THAT(std::move(f).Run(),
              StatusIs(StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("thread 0: reads element 0"),
                             HasSubstr("no thread of the block has written"),
                             HasSubstr("y[thread] = other[thread];"))));
}

TEST(ThreadReportsTest, AccessesOutsideNameTheThread) {
  Frame f;
  f.b.Barrier();
  f.b.Store(f.s, f.b.Add(f.thread, f.b.Int(16)), 0, f.value);
  EXPECT_THAT(std::move(f).Run(),
              StatusIs(StatusCode::kOutOfRange,
                       HasSubstr("block 0, thread 48: element 64 of a buffer "
                                 "of 64")));
}

TEST(ThreadReportsTest, LostWaitsHaveBothLines) {
  ScalarBuilder b("copies");
  const int x = b.AddArgument("x", DType::kInt32, Role::kInput, 64);
  const int y = b.AddArgument("y", DType::kInt32, Role::kOutput, 64);
  const int s = b.AddScratch("s", DType::kInt32, 64);
  const Reg thread = b.AddThreads(64, 32);
  kernel_ir::AsyncCopyInst copy;
  copy.to = s;
  copy.from = x;
  copy.to_offset = copy.from_offset = thread;
  b.AsyncCopy(copy);
  b.Commit();
  b.Barrier();
  b.Store(y, thread, 0, b.Load(s, thread, 0));
  const Job job = {std::move(b).Finish(),
                   {std::string(256, 1), std::string(256, 1)}};
  EXPECT_THAT(
      Emulate({job}, Options(gpu_text::Dialect::kHip, true))[0].status(),
      StatusIs(StatusCode::kDataLoss,
               AllOf(HasSubstr("line 11, block 0, thread 0: lost wait: reads "
                               "element 0 of a buffer of 64, which thread 0 "
                               "copies in line 8 and has not waited for"),
                     HasSubstr("y[thread] = s[thread];"))));
}

// The verifier lets none of these through; other people's texts may have them.
TEST(ThreadReportsTest, ThreadsThatPartAreReportedWithoutChecksToo) {
  for (const bool checked : {false, true}) {
    Frame f;
    f.b.BeginIf(f.b.Emit(Op::kLt, {f.thread, f.b.Int(40)}));
    f.b.Barrier();
    f.b.EndIf();
    EXPECT_THAT(std::move(f).Run(checked),
                StatusIs(StatusCode::kFailedPrecondition,
                         AllOf(HasSubstr("thread 0: waits for thread 40, which "
                                         "has ended: tw_barrier();"))));
    Frame g;
    g.b.BeginIf(g.b.Emit(Op::kLt, {g.thread, g.b.Int(40)}));
    g.b.Barrier();
    g.b.BeginElse();
    g.b.Barrier();
    g.b.EndIf();
    EXPECT_THAT(std::move(g).Run(checked),
                StatusIs(StatusCode::kFailedPrecondition,
                         HasSubstr("thread 40, which has come to a halt in "
                                   "line 11")));
    Frame h;
    h.b.BeginIf(h.b.Emit(Op::kLt, {h.thread, h.b.Int(40)}));
    h.b.Store(h.y, h.thread, 0, h.b.ExchangeXor(h.value, 1));
    h.b.EndIf();
    EXPECT_THAT(std::move(h).Run(checked),
                StatusIs(StatusCode::kFailedPrecondition,
                         HasSubstr("thread 32: waits for thread 40, which "
                                   "has ended")));
  }
}

}  // namespace
}  // namespace tilewright::emulator
