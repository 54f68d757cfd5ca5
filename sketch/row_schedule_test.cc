#include "sketch/row_schedule.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/block_tree.h"
#include "sketch/block_tree_verifier.h"
#include "sketch/replay.h"
#include "sketch/schedule.h"
#include "sketch/test_workloads.h"
#include "tilegraph/layout.h"
#include "tilegraph/text_form.h"

namespace tilewright::sketch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kSoftmax[] = R"(
    X: f32[2, $r, $k] = placeholder
    B: f32[2, 1, $k] = placeholder
    Z: f32[2, $r, $k] = compute (b: 2, r: $r, k: $k) { X[b, r, k] * 0.125 + B[b, 0, k] }
    M: f32[2, $r, 1] = compute (b: 2, r: $r, o: 1) reduce (k: $k) max:f32 { Z[b, r, k] }
    E: f32[2, $r, $k] = compute (b: 2, r: $r, k: $k) { exp(Z[b, r, k] - M[b, r, 0]) }
    S: f32[2, $r, 1] = compute (b: 2, r: $r, o: 1) reduce (k: $k) sum:f32 { E[b, r, k] }
    Y: f32[2, $r, $k] = compute (b: 2, r: $r, k: $k) { E[b, r, k] / S[b, r, 0] }
    return Y
)";
constexpr char kLogSoftmax[] = R"(
    X: f32[$r, $k] = placeholder
    M: f32[$r] = compute (r: $r) reduce (k: $k) max:f32 { X[r, k] }
    E: f32[$r, $k] = compute (r: $r, k: $k) { exp(X[r, k] - M[r]) }
    S: f32[$r] = compute (r: $r) reduce (k: $k) sum:f32 { E[r, k] }
    Y: f32[$r, $k] = compute (r: $r, k: $k) { X[r, k] - M[r] - log(S[r]) }
    return Y
)";
constexpr char kLayerNorm[] = R"(
    X: f32[$r, $k] = placeholder
    g: f32[$k] = placeholder
    b: f32[$k] = placeholder
    S: f32[$r, 1] = compute (r: $r, o: 1) reduce (k: $k) sum:f32 { X[r, k] }
    A: f32[$r, 1] = compute (r: $r, o: 1) { S[r, 0] / 7.0 }
    Q: f32[$r, 1] = compute (r: $r, o: 1) reduce (k: $k) sum:f32 { (X[r, k] - A[r, 0]) * (X[r, k] - A[r, 0]) }
    V: f32[$r, 1] = compute (r: $r, o: 1) { 1.0 / sqrt(Q[r, 0] / 7.0 + 0.00001) }
    Y: f32[$r, $k] = compute (r: $r, k: $k) { (X[r, k] - A[r, 0]) * V[r, 0] * g[k] + b[k] }
    return Y
)";
// Over channels: rows, not their elements, are neighbours.
constexpr char kChannelNorm[] = R"(
    X: f32[1, $k, 3, $r] = placeholder
    S: f32[1, 1, 3, $r] = compute (n: 1, o: 1, h: 3, w: $r) reduce (c: $k) sum:f32 { X[n, c, h, w] }
    Q: f32[1, 1, 3, $r] = compute (n: 1, o: 1, h: 3, w: $r) reduce (c: $k) sum:f32 { (X[n, c, h, w] - S[n, 0, h, w]) * X[n, c, h, w] }
    Y: f32[1, $k, 3, $r] = compute (n: 1, c: $k, h: 3, w: $r) { exp(X[n, c, h, w] - S[n, 0, h, w]) * Q[n, 0, h, w] }
    return Y
)";
constexpr char kInstanceNorm[] = R"(
    X: f32[2, $r, 5, $k] = placeholder
    S: f32[2, $r, 1, 1] = compute (n: 2, c: $r, o: 1, p: 1) reduce (h: 5, w: $k) sum:f32 { X[n, c, h, w] }
    Y: f32[2, $r, 5, $k] = compute (n: 2, c: $r, h: 5, w: $k) { X[n, c, h, w] - S[n, c, 0, 0] }
    return Y
)";
constexpr char kReduceAll[] = R"(
    X: f32[$r, $k] = placeholder
    S: f32[] = compute () reduce (r: $r, k: $k) sum:f32 { X[r, k] * X[r, k] }
    Y: f32[] = compute () { sqrt(S[]) }
    return Y
)";
constexpr char kReduceAlone[] = R"(
    X: f32[$r, $k] = placeholder
    Y: f32[$r] = compute (r: $r) reduce (k: $k) max:f32 { X[r, k] }
    return Y
)";
constexpr char kArgMax[] = R"(
    X: f32[$r, $k] = placeholder
    Y: i64[$r] = compute (r: $r) reduce (k: $k) argmax:f32 { X[r, k], k } result 1
    return Y
)";
constexpr char kHalf[] = R"(
    X: f16[$r, $k] = placeholder
    S: f16[$r] = compute (r: $r) reduce (k: $k) sum:f32 { cast:f32(X[r, k]) }
    Y: f16[$r, $k] = compute (r: $r, k: $k) { X[r, k] * S[r] }
    return Y
)";

Workload Make(const char* text, int64_t rows, int64_t elements) {
  const std::string filled = absl::StrReplaceAll(
      text, {{"$r", absl::StrCat(rows)}, {"$k", absl::StrCat(elements)}});
  absl::StatusOr<Workload> workload = ParseWorkload(filled);
  EXPECT_THAT(workload.status(), IsOk()) << filled;
  return workload.ok() ? *std::move(workload) : Workload();
}

// The schedule's text, once its tree was found to compute the right thing.
std::string Checked(const Workload& workload, const std::string& spec) {
  const std::optional<Schedule> schedule =
      RowSchedule(workload, *LoadSpec(spec));
  EXPECT_TRUE(schedule.has_value()) << workload.Text();
  if (!schedule) return "";
  const absl::StatusOr<BlockTree> tree = Replay(workload, *schedule);
  EXPECT_THAT(tree.status(), IsOk()) << workload.Text() << schedule->ToString();
  if (!tree.ok()) return "";
  EXPECT_THAT(VerifyBlockTree(*tree), IsOk()) << tree->ToString();
  EXPECT_THAT(CheckTree(*tree, workload, 5), IsOk()) << tree->ToString();
  return schedule->ToString();
}

TEST(RowScheduleTest, ComputesEveryFamilyAtEveryLength) {
  for (const char* text :
       {kSoftmax, kLogSoftmax, kLayerNorm, kChannelNorm, kInstanceNorm,
        kReduceAll, kReduceAlone, kArgMax, kHalf}) {
    for (const auto& [rows, elements] :
         std::vector<std::pair<int64_t, int64_t>>{
             {3, 1}, {1, 2}, {13, 5}, {6, 16}, {5, 49}, {3, 100}, {2, 131}}) {
      for (const char* spec : {"cpu_x86_64_v4", "cpu_x86_64_v2"})
        Checked(Make(text, rows, elements), spec);
    }
  }
}

TEST(RowScheduleTest, BlockedChannelsAreElementsOrRows) {
  const std::vector<int64_t> norm = {1, 48, 3, 7}, instance = {2, 32, 5, 7};
  Workload over_channels = Make(kChannelNorm, 7, 48);
  for (const char* name : {"X", "Y"})
    over_channels.layouts[*over_channels.graph.Find(name)] =
        Layout::BlockedLast(norm, 1, 16);
  EXPECT_THAT(Checked(over_channels, "cpu_x86_64_v4"), HasSubstr("rfactor"));
  Workload over_pixels = Make(kInstanceNorm, 32, 7);
  for (const char* name : {"X", "Y"})
    over_pixels.layouts[*over_pixels.graph.Find(name)] =
        Layout::BlockedLast(instance, 1, 16);
  Checked(over_pixels, "cpu_x86_64_v4");
}

TEST(RowScheduleTest, WhatIsDearIsKeptAndTheRestComputedAnew) {
  const std::string text = Checked(Make(kSoftmax, 4, 200), "cpu_x86_64_v4");
  EXPECT_THAT(text, HasSubstr("\"scratch\""));  // E
  EXPECT_THAT(text, HasSubstr("compute_inline"));
  EXPECT_THAT(Checked(Make(kSoftmax, 4, 49), "cpu_x86_64_v4"),
              Not(HasSubstr("scratch")));
  EXPECT_THAT(Checked(Make(kLayerNorm, 4, 200), "cpu_x86_64_v4"),
              Not(HasSubstr("scratch")));
}

TEST(RowScheduleTest, ProductsWindowsAndMapsAreOtherFamilies) {
  for (const char* text : {R"(
      A: f32[8, 4] = placeholder
      B: f32[4, 6] = placeholder
      T: f32[8, 6] = compute (m: 8, n: 6) reduce (k: 4) sum:f32 { A[m, k] * B[k, n] }
      return T)",
                           R"(
      X: f32[9] = placeholder
      T: f32[8] = compute (m: 8) reduce (k: 2) max:f32 { X[m + k] }
      return T)",
                           R"(
      X: f32[9] = placeholder
      T: f32[9] = compute (m: 9) { X[m] + X[m] }
      return T)"}) {
    EXPECT_FALSE(RowSchedule(Make(text, 1, 1), *LoadSpec("cpu_x86_64_v4")));
  }
}

}  // namespace
}  // namespace tilewright::sketch
