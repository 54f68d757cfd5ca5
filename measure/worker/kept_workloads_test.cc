#include "measure/worker/kept_workloads.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "measure/verify/verifier.h"

namespace tilewright::measure {
namespace {

std::string Scaling(int size) {
  return absl::StrCat("A: f32[", size, "] = placeholder\nY: f32[", size,
                      "] = compute (i: ", size, ") { A[i] * 2.0 }\nreturn Y\n");
}

// With a reference, as once a candidate was verified.
absl::StatusOr<int64_t> GetVerifier(KeptWorkloads& kept,
                                    const std::string& text) {
  TW_ASSIGN_OR_RETURN(KeptWorkload* const workload, kept.Get(text));
  if (workload->verifier == nullptr) {
    TW_ASSIGN_OR_RETURN(workload->verifier,
                        Verifier::Create(workload->workload, {}));
  }
  kept.Shrink();
  return workload->size_bytes();
}

TEST(KeptWorkloadsTest, AllAreKeptAsLongAsTheyFit) {
  KeptWorkloads kept(int64_t{1} << 30, 1);
  for (int size = 1; size <= 6; ++size) {
    TW_ASSERT_OK(GetVerifier(kept, Scaling(size)));
  }
  for (int size = 1; size <= 6; ++size) {
    TW_ASSERT_OK_AND_ASSIGN(const KeptWorkload* workload,
                            kept.Get(Scaling(size)));
    EXPECT_NE(workload->verifier, nullptr);
    EXPECT_EQ(workload->workload.Text(), Scaling(size));
  }
  EXPECT_EQ(kept.size(), 6);
}

TEST(KeptWorkloadsTest, TheOneUsedLongestAgoIsForgotten) {
  KeptWorkloads alone(0, 1);
  TW_ASSERT_OK_AND_ASSIGN(const int64_t one_bytes,
                          GetVerifier(alone, Scaling(64)));
  EXPECT_GT(one_bytes, 2 * 64 * 4);
  KeptWorkloads kept(2 * one_bytes + one_bytes / 2, 1);
  const std::string a = Scaling(63), b = Scaling(64), c = Scaling(65);
  TW_ASSERT_OK(GetVerifier(kept, a));
  TW_ASSERT_OK(GetVerifier(kept, b));
  TW_ASSERT_OK(GetVerifier(kept, a));
  TW_ASSERT_OK(GetVerifier(kept, c));
  EXPECT_EQ(kept.size(), 2);
  TW_ASSERT_OK_AND_ASSIGN(const KeptWorkload* workload, kept.Get(a));
  EXPECT_NE(workload->verifier, nullptr);
  TW_ASSERT_OK_AND_ASSIGN(workload, kept.Get(b));
  EXPECT_EQ(workload->verifier, nullptr);
}

TEST(KeptWorkloadsTest, TheLatestIsKeptInAnyCase) {
  KeptWorkloads kept(0, 1);
  for (int i = 0; i < 2; ++i) {
    TW_ASSERT_OK(GetVerifier(kept, Scaling(8)));
    TW_ASSERT_OK_AND_ASSIGN(const KeptWorkload* workload, kept.Get(Scaling(8)));
    EXPECT_NE(workload->verifier, nullptr);
    EXPECT_EQ(kept.size(), 1);
    TW_ASSERT_OK(kept.Get(Scaling(9)));
  }
}

TEST(KeptWorkloadsTest, WhatIsNoWorkloadIsAnError) {
  KeptWorkloads kept(1000, 1);
  EXPECT_THAT(kept.Get("nonsense").status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(kept.size(), 0);
}

}  // namespace
}  // namespace tilewright::measure
