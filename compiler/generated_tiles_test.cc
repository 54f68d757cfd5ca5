// Fused groups of random graphs, planned as they are generated.
#include <cstdint>
#include <memory>
#include <optional>

#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/spec/device_spec.pb.h"
#include "backends/spec/load_spec.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "compiler/kernels/group_workload.h"
#include "compiler/kernels/kernel_maker.h"
#include "gtest/gtest.h"
#include "tilegraph/cost/group_cost.h"
#include "tilegraph/fuse/connect_plan.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/testing/random_graph.h"

namespace tilewright {
namespace {

// Caches as small as the graphs, and slow memory.
DeviceSpec SmallMachine(Random& random) {
  DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  for (MemoryLevel& level : *spec.mutable_levels()) {
    if (level.kind() == MemoryLevel::CACHE)
      level.set_capacity_bytes(int64_t{1024} << random.UniformInt(0, 3));
    level.set_read_bytes_per_s(1e9);
    level.set_write_bytes_per_s(1e9);
  }
  spec.mutable_unit()->set_launch_ns(10);
  spec.mutable_unit()->set_cores(random.UniformInt(1, 4));
  return spec;
}

TEST(GeneratedTilesTest, PlansSayWhatKernelsDo) {
  int groups = 0, tasks = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const DeviceSpec spec = SmallMachine(random);
    TW_ASSERT_OK_AND_ASSIGN(const auto codegen, cpu::CreateCpuCodegen(spec));
    RandomGraphOptions draw;
    draw.f32_only = true;
    const TensorGraph graph =
        BuildGraph(RandomChain(seed, /*computes=*/4), seed, draw);
    PlanOptions how;
    how.connect = PlanOptions::Connect::kTileGraph;
    const Plan plan = MakePlan(graph, how);
    const GroupEvaluator model(graph, plan, spec);
    KernelMaker maker(*codegen);
    ConnectPlanOptions connect;
    connect.evaluate.least_gain = 0;
    connect.evaluate.may_move_more = true;
    connect.evaluate.generate =
        [&](const Group& group, const Plan& fused) -> absl::StatusOr<TilePlan> {
      const auto& kernel = maker.Make(MakeGroupWorkload(graph, fused, group));
      TW_RETURN_IF_ERROR(kernel.status());
      EXPECT_TRUE(kernel->schedule.tile_plan);
      return kernel->schedule.tile_plan.value_or(group.tile_plan);
    };
    const ConnectedGroups connected = ConnectPlan(graph, plan, model, connect);
    const Plan fused = FusedPlan(graph, plan, connected);
    for (const FusionDecision& decision : connected.decisions) {
      if (!decision.taken) continue;
      EXPECT_TRUE(decision.fused.plan.generated);
      EXPECT_TRUE(decision.fused.fits);
    }
    for (const Group& group : fused.groups) {
      if (group.stages.empty()) continue;
      ++groups;
      const auto& kernel = maker.Make(MakeGroupWorkload(graph, fused, group));
      TW_ASSERT_OK(kernel);
      TW_ASSERT_OK_AND_ASSIGN(const GroupCost cost, model.CostOf(group));
      // Kernels of one task alone have none to count.
      EXPECT_EQ(kernel->scalar.num_tasks, cost.tasks);
      tasks += kernel->scalar.num_tasks;
    }
  }
  EXPECT_GT(groups, 30);
  EXPECT_GT(tasks, 2 * groups);
}

}  // namespace
}  // namespace tilewright
