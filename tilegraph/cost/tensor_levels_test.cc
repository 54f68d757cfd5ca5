#include "tilegraph/cost/tensor_levels.h"

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

// A, B and C in a group each: A is read at once, and again after B.
class TensorLevelsTest : public testing::Test {
 protected:
  void SetUp() override {
    TW_ASSERT_OK_AND_ASSIGN(graph_, ParseText(R"(
      X: f32[4096] = placeholder
      A: f32[4096] = compute (i: 4096) { X[i] + 1.0 }
      B: f32[4096] = compute (i: 4096) { A[i] * 2.0 }
      C: f32[4096] = compute (i: 4096) { B[i] - A[i] }
      return C
    )"));
    plan_ = MakePlan(graph_, {PlanOptions::Connect::kNone, 0});
    ASSERT_EQ(plan_.groups.size(), 3u);
    // Levels: 0 dram, 1 l3, 2 l2. The l2 holds none of the tensors of 16 KiB,
    // the l3 all of them.
    TW_ASSERT_OK_AND_ASSIGN(spec_, LoadSpec("cpu_x86_64_v4"));
    spec_.mutable_cost_model()->set_kept_shared_share(0.5);
    spec_.mutable_levels(1)->set_capacity_bytes(1 << 20);
    spec_.mutable_levels(1)->set_cores_sharing(1);
    spec_.mutable_levels(2)->set_capacity_bytes(8 << 10);
  }
  // Where the group at `place` finds A if each takes `seconds`.
  int LevelOfA(int place, double seconds) const {
    TensorLevels levels(graph_, plan_, spec_);
    levels.SetGroupSeconds({seconds, seconds, seconds});
    return levels.Of(*graph_.Find("A"), plan_.groups[place]);
  }

  TensorGraph graph_;
  Plan plan_;
  DeviceSpec spec_;
};

TEST_F(TensorLevelsTest, CachesKeepForEverUnlessTheSpecSaysOtherwise) {
  EXPECT_FALSE(TensorLevels(graph_, plan_, spec_).ForgetWithTime());
  EXPECT_EQ(LevelOfA(1, 0), 1);
  EXPECT_EQ(LevelOfA(1, 1e9), 1);
}

// From A to B is half of A's group and half of B's.
TEST_F(TensorLevelsTest, OldTensorsLieInMemory) {
  spec_.mutable_levels(1)->set_retention_ns(1e6);
  EXPECT_TRUE(TensorLevels(graph_, plan_, spec_).ForgetWithTime());
  EXPECT_EQ(LevelOfA(1, 0.5e-3), 1);
  EXPECT_EQ(LevelOfA(1, 1.5e-3), 0);
  EXPECT_EQ(LevelOfA(0, 1.5e-3), 0);  // where it will be found
}

// What comes by in between are 16 KiB and half of twice as much, of 512 KiB:
// that leaves others 15 of 16 parts of the time.
TEST_F(TensorLevelsTest, OthersFillWhatTheRunLeaves) {
  spec_.mutable_levels(1)->set_retention_ns(1e6);
  EXPECT_EQ(LevelOfA(1, 0.93e-3), 1);
  EXPECT_EQ(LevelOfA(1, 0.95e-3), 0);
}

}  // namespace
}  // namespace tilewright
