#include "tilegraph/cost/estimate_key.h"

#include <string>

#include "backends/spec/load_spec.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/testing/test_graphs.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

// Two layers, T = A B and U = T C, fused into stages.
class EstimateKeyTest : public testing::Test {
 protected:
  void Build(int64_t rows) {
    graph_ = Products(rows, 64, {"T = A B", "U = T C"}, "U");
    plan_ = MakePlan(graph_, {});
    group_.members = {Id("T"), Id("U")};
    group_.output = Id("U");
    group_.stages = {{{Id("T")}}, {{Id("U")}}};
  }
  TensorId Id(const std::string& name) const { return *graph_.Find(name); }
  EstimateKey Key() const {
    return EstimateKeyOf(graph_, TensorLevels(graph_, plan_, spec_), group_);
  }
  static bool Equal(const EstimateKey& a, const EstimateKey& b) {
    return !(a < b) && !(b < a);
  }

  const DeviceSpec spec_ = *LoadSpec("cpu_x86_64_v4");
  TensorGraph graph_;
  Plan plan_;
  Group group_;
};

TEST_F(EstimateKeyTest, LevelsAreOfWhatCrossesTheBoundary) {
  Build(64);
  const TensorLevels tensor_levels(graph_, plan_, spec_);
  EXPECT_THAT(
      Key().levels,
      ElementsAre(tensor_levels.Of(Id("A"), group_),
                  tensor_levels.Of(Id("B"), group_),
                  tensor_levels.Of(Id("C"), group_),
                  tensor_levels.Of(Id("U"), group_)));
  const EstimateKey near = Key();
  group_.side_outputs = {Id("T")};
  EXPECT_EQ(Key().levels.size(), near.levels.size() + 1);
}

TEST_F(EstimateKeyTest, LevelsSetEqualKernelsApart) {
  Build(64);
  const EstimateKey near = Key();
  EXPECT_TRUE(Equal(near, Key()));
  // The same kernel where the cache is too small for its operands.
  DeviceSpec small = spec_;
  for (MemoryLevel& level : *small.mutable_levels())
    level.set_capacity_bytes(1024);
  const EstimateKey far =
      EstimateKeyOf(graph_, TensorLevels(graph_, plan_, small), group_);
  EXPECT_EQ(far.kernel, near.kernel);
  EXPECT_FALSE(Equal(far, near));
}

TEST_F(EstimateKeyTest, TilesStepsAndInnerLayoutsCount) {
  Build(64);
  const EstimateKey bare = Key();
  group_.tile_plan.tile = {16, 64};
  const EstimateKey tiled = Key();
  EXPECT_FALSE(Equal(tiled, bare));
  group_.tile_plan.stages.resize(2);
  group_.tile_plan.stages[1].reduce_step = 16;
  const EstimateKey blocked = Key();
  EXPECT_FALSE(Equal(blocked, tiled));
  plan_.layouts[Id("T")] = Layout::BlockedLast({64, 64}, 0, 16);
  EXPECT_FALSE(Equal(Key(), blocked));
  EXPECT_EQ(Key().kernel, bare.kernel);
}

}  // namespace
}  // namespace tilewright
