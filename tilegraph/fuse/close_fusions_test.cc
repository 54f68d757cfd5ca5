// Fusions that measurements of different moments do not tell apart from their
// parts are measured again, interleaved.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/cost/group_cost.h"
#include "tilegraph/fuse/connect_plan.h"
#include "tilegraph/fuse/plan_profiler.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Parts take 10 ms each, whatever is fused `fused`; interleaved, another time.
class TwoTimes : public PlanProfiler {
 public:
  TwoTimes(double fused, double interleaved)
      : fused_(fused), interleaved_(interleaved) {}

  std::vector<absl::StatusOr<double>> OneCoreSeconds(
      const Plan&, absl::Span<const Group> variants) override {
    return std::vector<absl::StatusOr<double>>(
        variants.size(), variants[0].stages.empty() ? 0.010 : fused_);
  }
  absl::StatusOr<std::vector<double>> Interleaved(
      absl::Span<const GroupOfPlan> groups) override {
    std::vector<double> seconds;
    stages.clear();
    for (const GroupOfPlan& one : groups) {
      stages.push_back(one.group->stages.size());
      // The machine is twice as slow by now.
      seconds.push_back(one.group->stages.empty() ? 0.020 : 2 * interleaved_);
    }
    ++asked;
    return seconds;
  }

  int asked = 0;
  std::vector<size_t> stages;  // of the groups that were last asked about

 private:
  const double fused_, interleaved_;
};

constexpr char kChain[] = R"(
  A: f32[65536, 64] = placeholder
  B: f32[64, 64] = placeholder
  T: f32[65536, 64] = compute (m: 65536, n: 64) reduce (k: 64) sum:f32 {
    A[m, k] * B[k, n] }
  Y: f32[65536, 64] = compute (m: 65536, n: 64) reduce (k: 64) sum:f32 {
    T[m, k] * B[n, k] }
  return Y
)";
// The same twice, one after the other.
constexpr char kTwice[] = R"(
  A: f32[65536, 64] = placeholder
  B: f32[64, 64] = placeholder
  C: f32[65536, 64] = placeholder
  T: f32[65536, 64] = compute (m: 65536, n: 64) reduce (k: 64) sum:f32 {
    A[m, k] * B[k, n] }
  Y: f32[65536, 64] = compute (m: 65536, n: 64) reduce (k: 64) sum:f32 {
    T[m, k] * B[k, n] }
  U: f32[65536, 64] = compute (m: 65536, n: 64) reduce (k: 64) sum:f32 {
    C[m, k] * B[k, n] }
  Z: f32[65536, 64] = compute (m: 65536, n: 64) reduce (k: 64) sum:f32 {
    U[m, k] * B[k, n] }
  return Y, Z
)";

// The groups that there are in the end, and what was evaluated first.
std::pair<size_t, FusionDecision> Connect(const std::string& text,
                                          TwoTimes& profiler) {
  const TensorGraph graph = *ParseText(text);
  PlanOptions plan_options;
  plan_options.connect = PlanOptions::Connect::kTileGraph;
  const Plan plan = MakePlan(graph, plan_options);
  ConnectPlanOptions options;
  options.evaluate.measuring.profiler = &profiler;
  const DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  const ConnectedGroups connected =
      ConnectPlan(graph, plan, GroupEvaluator(graph, plan, spec), options);
  return {FusedPlan(graph, plan, connected).groups.size(),
          connected.decisions.at(0)};
}

TEST(CloseFusionsTest, TimesInterleavedDecideWhatIsClose) {
  TwoTimes lucky(0.0190, 0.0199);  // 5 % at first
  const auto [apart, refused] = Connect(kChain, lucky);
  EXPECT_EQ(apart, 2u);
  EXPECT_EQ(lucky.asked, 1);
  EXPECT_THAT(lucky.stages, ElementsAre(2, 0, 0));
  EXPECT_TRUE(refused.interleaved);
  EXPECT_THAT(refused.why, HasSubstr("interleaved"));

  TwoTimes unlucky(0.0199, 0.0185);
  const auto [fused, taken] = Connect(kChain, unlucky);
  EXPECT_EQ(fused, 1u);
  EXPECT_EQ(unlucky.asked, 1);
  // In the measure of the first times.
  EXPECT_NEAR(*taken.fused_one_core_seconds, 0.0185, 1e-6);
  EXPECT_NEAR(*taken.unfused_one_core_seconds, 0.0200, 1e-6);
}

TEST(CloseFusionsTest, WhatIsClearIsMeasuredOnce) {
  TwoTimes clear(0.015, 0.030);
  EXPECT_EQ(Connect(kChain, clear).first, 1u);
  EXPECT_EQ(clear.asked, 0);
  TwoTimes loss(0.025, 0.001);
  EXPECT_EQ(Connect(kChain, loss).first, 2u);
  EXPECT_EQ(loss.asked, 0);
}

TEST(CloseFusionsTest, EqualOnesAreComparedOnce) {
  TwoTimes close(0.0195, 0.0180);
  EXPECT_EQ(Connect(kTwice, close).first, 2u);
  EXPECT_LE(close.asked, 2);
}

}  // namespace
}  // namespace tilewright
