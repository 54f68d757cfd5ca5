#include "measure/verify/verifier.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/testing/test_kernels.h"
#include "measure/verify/interpreted_candidate.h"
#include "sketch/trace/workload.h"
#include "tilegraph/text/text_form.h"

namespace tilewright::measure {
namespace {

using ::testing::HasSubstr;

TEST(VerifierTest, AcceptsAPlainKernelOfEveryWorkload) {
  for (const NamedWorkload& one : TestWorkloads()) {
    TW_ASSERT_OK_AND_ASSIGN(const auto verifier,
                            Verifier::Create(one.workload, {}));
    const PlainKernel plain = LowerPlainly(one.workload);
    TW_ASSERT_OK_AND_ASSIGN(
        const Verdict verdict,
        verifier->Check(plain.arguments, InterpretedCandidate(plain.kernel),
                        Isolation::kInProcess));
    EXPECT_TRUE(verdict.ok) << one.name << ": " << verdict.reason;
    EXPECT_EQ(verdict.exact_checked, one.exact) << one.name;
    EXPECT_LT(verdict.largest_error, 4) << one.name;
  }
}

// Y = max(A·B + b, 0), by hand: what the tests below break in one place each.
struct Gemm {
  static constexpr int64_t kM = 7, kN = 19, kK = 33;
  enum Argument { kA, kB, kBias, kY };

  Gemm()
      : workload(TestWorkload("gemm")),
        arguments(LowerPlainly(workload).arguments) {}

  static absl::Status Run(const CandidateRun& run) {
    const float *a = In(run, kA), *b = In(run, kB), *bias = In(run, kBias);
    for (int64_t m = 0; m < kM; ++m) {
      for (int64_t n = 0; n < kN; ++n) {
        float sum = 0;
        for (int64_t k = 0; k < kK; ++k) sum += a[m * kK + k] * b[k * kN + n];
        Out(run)[m * kN + n] = std::max(sum + bias[n], 0.0f);
      }
    }
    return absl::OkStatus();
  }
  static float* In(const CandidateRun& run, Argument which) {
    return static_cast<float*>(run.args[which]);
  }
  static float* Out(const CandidateRun& run) { return In(run, kY); }

  Verdict Check(const Candidate& candidate,
                VerifierOptions options = {}) const {
    const auto verifier = Verifier::Create(workload, options);
    EXPECT_THAT(verifier.status(), IsOk());
    const absl::StatusOr<Verdict> verdict =
        (*verifier)->Check(arguments, candidate, Isolation::kChild);
    EXPECT_THAT(verdict.status(), IsOk());
    return *verdict;
  }

  sketch::Workload workload;
  Arguments arguments;
};

// A candidate that runs Gemm and then `harm`.
template <typename F>
Candidate Then(F harm) {
  return [harm](const CandidateRun& run) {
    (void)Gemm::Run(run);
    harm(run);
    return absl::OkStatus();
  };
}

TEST(VerifierTest, AcceptsMachineCodeInAChildProcess) {
  const Verdict verdict = Gemm().Check(Gemm::Run);
  EXPECT_TRUE(verdict.ok) << verdict.reason;
  EXPECT_TRUE(verdict.exact_checked);
  EXPECT_GT(verdict.largest_error, 0);
  EXPECT_LT(verdict.largest_error, 4);
}

TEST(VerifierTest, OneWrongElementIsNamed) {
  const Verdict verdict = Gemm().Check(Then(
      [](const CandidateRun& run) { Gemm::Out(run)[2 * Gemm::kN + 5] += 1; }));
  EXPECT_FALSE(verdict.ok);
  EXPECT_THAT(verdict.reason, HasSubstr("output 'Y' [2, 5] is"));
  EXPECT_THAT(verdict.reason, HasSubstr("exact set"));
}

// The exact set is what finds it: 2^-20 of the value lies within no bound, but
// it also would on larger sums.
TEST(VerifierTest, TheSmallestPossibleErrorOnIntegersIsRejected) {
  const Verdict verdict = Gemm().Check(Then([](const CandidateRun& run) {
    float& y = Gemm::Out(run)[6 * Gemm::kN + 18];
    y = std::nextafter(y, std::numeric_limits<float>::infinity());
  }));
  EXPECT_FALSE(verdict.ok);
}

TEST(VerifierTest, AnElementNeverWrittenIsRejected) {
  const Verdict verdict = Gemm().Check([](const CandidateRun& run) {
    const float before = Gemm::Out(run)[11];
    (void)Gemm::Run(run);
    Gemm::Out(run)[11] = before;
    return absl::OkStatus();
  });
  EXPECT_FALSE(verdict.ok);
  EXPECT_THAT(verdict.reason, HasSubstr("nan"));
}

TEST(VerifierTest, ReadsAndWritesOutsideABufferAreFoundOnBothSides) {
  const Gemm gemm;
  const Verdict read = gemm.Check(Then([](const CandidateRun& run) {
    (void)*const_cast<volatile float*>(Gemm::In(run, Gemm::kB) +
                                       Gemm::kK * Gemm::kN);
  }));
  EXPECT_FALSE(read.ok);
  EXPECT_THAT(read.reason, HasSubstr("reads outside 'B'"));
  const Verdict before = gemm.Check(Then([](const CandidateRun& run) {
    (void)*const_cast<volatile float*>(Gemm::In(run, Gemm::kA) - 1);
  }));
  EXPECT_FALSE(before.ok);
  EXPECT_THAT(before.reason, HasSubstr("reads outside 'A': at byte -4"));
  const Verdict write = gemm.Check(Then([](const CandidateRun& run) {
    Gemm::Out(run)[Gemm::kM * Gemm::kN + 3] = 1;
  }));
  EXPECT_FALSE(write.ok);
  EXPECT_THAT(write.reason, HasSubstr("writes outside 'Y'"));
}

TEST(VerifierTest, AWriteBesideABufferThatReachesNoGuardIsFound) {
  // Only with one thread, where buffers end at the guard: four bytes before the
  // buffer is accessible slack.
  const Verdict verdict = Gemm().Check(Then([](const CandidateRun& run) {
    if (run.threads == 1) Gemm::Out(run)[-1] = 1;
  }));
  EXPECT_FALSE(verdict.ok);
  EXPECT_THAT(verdict.reason, HasSubstr("writes outside 'Y'"));
}

TEST(VerifierTest, AWriteToAnInputIsFound) {
  const Verdict verdict = Gemm().Check(
      Then([](const CandidateRun& run) { Gemm::In(run, Gemm::kB)[7] += 1; }));
  EXPECT_FALSE(verdict.ok);
  EXPECT_THAT(verdict.reason, HasSubstr("writes to input 'B'"));
}

TEST(VerifierTest, OtherBitsWithMoreThreadsAreRejected) {
  const Verdict verdict = Gemm().Check(Then([](const CandidateRun& run) {
    if (run.threads == 1) return;
    for (int64_t k = 0; k < Gemm::kM * Gemm::kN; ++k) {
      float& y = Gemm::Out(run)[k];
      if (y != std::nearbyint(y))
        y = std::nextafter(
            y, 0.0f);  // well within the bound, on the real set alone
    }
  }));
  EXPECT_FALSE(verdict.ok);
  EXPECT_THAT(verdict.reason, HasSubstr("other bits with 2 threads"));
}

TEST(VerifierTest, CrashHangAndErrorAreVerdicts) {
  const Gemm gemm;
  const Verdict crash = gemm.Check([](const CandidateRun&) {
    *reinterpret_cast<volatile int*>(uintptr_t{16}) = 1;
    return absl::OkStatus();
  });
  EXPECT_FALSE(crash.ok);
  EXPECT_THAT(crash.reason, HasSubstr("memory that is none of its buffers"));
  VerifierOptions impatient;
  impatient.timeout_seconds = 1;
  const Verdict hang = gemm.Check(
      [](const CandidateRun&) {
        for (volatile uint64_t i = 0;; ++i) {
        }
        return absl::OkStatus();
      },
      impatient);
  EXPECT_FALSE(hang.ok);
  EXPECT_THAT(hang.reason, HasSubstr("did not end within 1 s"));
  const Verdict error = gemm.Check([](const CandidateRun&) {
    return absl::OutOfRangeError("an index in the data is out of range");
  });
  EXPECT_FALSE(error.ok);
  EXPECT_THAT(error.reason, HasSubstr("an index in the data is out of range"));
}

TEST(VerifierTest, FailuresOfTheMachineAreNoVerdict) {
  const Gemm gemm;
  TW_ASSERT_OK_AND_ASSIGN(const auto verifier,
                          Verifier::Create(gemm.workload, {}));
  EXPECT_THAT(verifier->Check(
                  gemm.arguments,
                  [](const CandidateRun&) {
                    return absl::ResourceExhaustedError("no memory");
                  },
                  Isolation::kChild),
              StatusIs(absl::StatusCode::kResourceExhausted, "no memory"));
}

// The conv's output lies in blocks with a zero halo.
TEST(VerifierTest, PaddingThatMustStayZeroIsWatched) {
  const sketch::Workload workload = TestWorkload("conv");
  TW_ASSERT_OK_AND_ASSIGN(const auto verifier, Verifier::Create(workload, {}));
  const PlainKernel plain = LowerPlainly(workload);
  const Candidate right = InterpretedCandidate(plain.kernel);
  const Candidate harmful = [&](const CandidateRun& run) {
    absl::Status status = right(run);
    static_cast<float*>(run.args.back())[3] = 1;  // a corner of the halo
    return status;
  };
  TW_ASSERT_OK_AND_ASSIGN(
      const Verdict verdict,
      verifier->Check(plain.arguments, harmful, Isolation::kInProcess));
  EXPECT_FALSE(verdict.ok);
  EXPECT_THAT(verdict.reason, HasSubstr("padding that must stay zero"));
}

// Where no exact set exists, bounds must be tight enough to see a small error
// and wide enough for honest rounding.
// A convolution over a halo of known zeros, and a kernel that leaves the taps
// in the halo out.
constexpr char kHalo[] = R"(
P: f32[12] = placeholder
W: f32[3] = placeholder
Y: f32[10] = compute (i: 10) reduce (k: 3) sum:f32 { P[i + k] * W[k] }
return Y
)";
constexpr char kShortened[] = R"(
P: f32[12] = placeholder
W: f32[3] = placeholder
Y: f32[10] = compute (i: 10) reduce (k: 3) sum:f32 { select(i + k >= 1 && i + k < 11, P[i + k] * W[k], 0.0) }
return Y
)";

TEST(VerifierTest, TapsInKnownZerosMayBeLeftOut) {
  TW_ASSERT_OK_AND_ASSIGN(sketch::Workload workload,
                          sketch::ParseWorkload(kHalo));
  TW_ASSERT_OK_AND_ASSIGN(const sketch::Workload shortened,
                          sketch::ParseWorkload(kShortened));
  const PlainKernel kernel = LowerPlainly(shortened),
                    full = LowerPlainly(workload);
  const auto verify = [&](const PlainKernel& plain) {
    const auto verifier = Verifier::Create(workload, {});
    EXPECT_THAT(verifier.status(), IsOk());
    const auto verdict =
        (*verifier)->Check(plain.arguments, InterpretedCandidate(plain.kernel),
                           Isolation::kInProcess);
    EXPECT_THAT(verdict.status(), IsOk());
    return *verdict;
  };
  EXPECT_FALSE(verify(kernel).ok);
  workload.zeros[*workload.graph.Find("P")] = {{1}, {1}};
  EXPECT_TRUE(verify(kernel).ok) << verify(kernel).reason;
  EXPECT_TRUE(verify(full).ok) << verify(full).reason;
  // One zero less is known than is left out.
  workload.zeros[*workload.graph.Find("P")] = {{1}, {0}};
  EXPECT_FALSE(verify(kernel).ok);
}

// Picks and positive values are planted beside known zeros, never there: the
// reference is of the same values, and a kernel that writes there is found.
TEST(VerifierTest, KnownZerosAreZeroInEverySet) {
  TW_ASSERT_OK_AND_ASSIGN(
      sketch::Workload workload,
      sketch::ParseWorkload(
          "P: f32[4, 8] = placeholder\n"
          "M: f32[4] = compute (r: 4) reduce (k: 8) max:f32 { P[r, k] }\n"
          "Y: f32[4] = compute (r: 4) { max(M[r], 0.5) }\n"
          "return Y\n#zeros P (0,2|0,1)\n"));
  TW_ASSERT_OK_AND_ASSIGN(const auto verifier, Verifier::Create(workload, {}));
  const PlainKernel plain = LowerPlainly(workload);
  int runs = 0, nonzero = 0;
  const Candidate right = InterpretedCandidate(plain.kernel);
  TW_ASSERT_OK_AND_ASSIGN(const Verdict verdict,
                          verifier->Check(
                              plain.arguments,
                              [&](const CandidateRun& run) {
                                const auto* p =
                                    static_cast<const float*>(run.args[0]);
                                for (int r = 0; r < 4; ++r) {
                                  for (const int k : {0, 1, 7})
                                    EXPECT_EQ(p[r * 8 + k], 0);
                                  for (int k = 2; k < 7; ++k)
                                    nonzero += p[r * 8 + k] != 0;
                                }
                                ++runs;
                                return right(run);
                              },
                              Isolation::kInProcess));
  EXPECT_TRUE(verdict.ok) << verdict.reason;
  EXPECT_GT(runs, 8);
  EXPECT_GT(nonzero, 10 * runs);
}

TEST(VerifierTest, RealValuesAloneRejectAnErrorOfAHundredRoundings) {
  const sketch::Workload workload = TestWorkload("softmax");
  TW_ASSERT_OK_AND_ASSIGN(const auto verifier, Verifier::Create(workload, {}));
  const PlainKernel plain = LowerPlainly(workload);
  const Candidate right = InterpretedCandidate(plain.kernel);
  const Candidate off = [&](const CandidateRun& run) {
    absl::Status status = right(run);
    static_cast<float*>(run.args.back())[77] *= 1 + 200 * 0x1p-24f;
    return status;
  };
  TW_ASSERT_OK_AND_ASSIGN(
      const Verdict verdict,
      verifier->Check(plain.arguments, off, Isolation::kInProcess));
  EXPECT_FALSE(verdict.ok);
  EXPECT_FALSE(verdict.exact_checked);
  EXPECT_THAT(verdict.reason, HasSubstr("[2, 15]"));
}

TEST(VerifierTest, ReducedPrecisionIsAcceptedOnlyWhereAllowed) {
  const Candidate bf16 = [](const CandidateRun& run) {
    const auto round = [](float x) {
      return BFloat16ToFloat(FloatToBFloat16(x));
    };
    const float *a = Gemm::In(run, Gemm::kA), *b = Gemm::In(run, Gemm::kB),
                *bias = Gemm::In(run, Gemm::kBias);
    for (int64_t m = 0; m < Gemm::kM; ++m) {
      for (int64_t n = 0; n < Gemm::kN; ++n) {
        float sum = 0;
        for (int64_t k = 0; k < Gemm::kK; ++k)
          sum += round(a[m * Gemm::kK + k]) * round(b[k * Gemm::kN + n]);
        Gemm::Out(run)[m * Gemm::kN + n] = std::max(sum + bias[n], 0.0f);
      }
    }
    return absl::OkStatus();
  };
  const Gemm gemm;
  EXPECT_FALSE(gemm.Check(bf16).ok);
  VerifierOptions allowed;
  allowed.unit = 0x1p-9;
  const Verdict verdict = gemm.Check(bf16, allowed);
  EXPECT_TRUE(verdict.ok) << verdict.reason;
  EXPECT_FALSE(verdict.exact_checked);
}

// In the first rows nothing is left of X but rounding errors.
Verdict CheckCancelling(int rows) {
  absl::StatusOr<TensorGraph> graph = ParseText(absl::StrCat(
      "X: f32[100, 8] = placeholder\nY: f32[100, 8] = compute (r: 100, c: 8) { "
      "select(r < ",
      rows, ", X[r, c] + 1e9 - 1e9, X[r, c] * 0.3) }\nreturn Y\n"));
  EXPECT_THAT(graph.status(), IsOk());
  const sketch::Workload workload{*std::move(graph), {}};
  const auto verifier = Verifier::Create(workload, {});
  EXPECT_THAT(verifier.status(), IsOk());
  const PlainKernel plain = LowerPlainly(workload);
  const absl::StatusOr<Verdict> verdict =
      (*verifier)->Check(plain.arguments, InterpretedCandidate(plain.kernel),
                         Isolation::kInProcess);
  EXPECT_THAT(verdict.status(), IsOk());
  return *verdict;
}

TEST(VerifierTest, WhatErrorBoundsSayNothingAboutIsCountedAndRejected) {
  Verdict verdict = CheckCancelling(2);
  EXPECT_TRUE(verdict.ok) << verdict.reason;
  EXPECT_FLOAT_EQ(verdict.unbounded_share, 0.02);
  verdict = CheckCancelling(4);
  EXPECT_FALSE(verdict.ok);
  EXPECT_FLOAT_EQ(verdict.unbounded_share, 0.04);
  EXPECT_THAT(verdict.reason,
              HasSubstr("4.0 % of output 'Y' cannot be verified"));
  EXPECT_EQ(Gemm().Check(Gemm::Run).unbounded_share, 0);
}

TEST(VerifierTest, ArgumentsThatDoNotFitTheWorkloadAreRefused) {
  const Gemm gemm;
  TW_ASSERT_OK_AND_ASSIGN(const auto verifier,
                          Verifier::Create(gemm.workload, {}));
  Arguments missing = gemm.arguments;
  missing.tensors.pop_back(), missing.layouts.pop_back();
  missing.winograd.pop_back();
  EXPECT_THAT(verifier->Check(missing, Gemm::Run, Isolation::kChild),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "output 'Y' is no argument"));
  Arguments transposed = gemm.arguments;
  TW_ASSERT_OK_AND_ASSIGN(
      transposed.layouts[0],
      Layout::Create({7, 33}, {0, 0}, {0, 0}, {{1, 1, 33}, {0, 1, 7}},
                     Layout::Fill::kUndefined));
  EXPECT_THAT(verifier->Check(transposed, Gemm::Run, Isolation::kChild),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the layout of 'A' is not the workload's"));
}

TEST(VerifierTest, AGraphThatIsNoneIsRefused) {
  sketch::Workload workload;
  const TensorId x = workload.graph.AddPlaceholder("x", DType::kFloat32, {4});
  Compute compute;
  compute.axes = {{"i", 8}};
  compute.body = {workload.graph.Load(x, {Expr::Var(0, "i")})};
  workload.graph.SetOutputs(
      {workload.graph.AddCompute("y", DType::kFloat32, compute)});
  EXPECT_THAT(Verifier::Create(workload, {}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace tilewright::measure
