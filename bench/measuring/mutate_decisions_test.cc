#include "bench/measuring/mutate_decisions.h"

#include <set>
#include <string>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "sketch/default_schedule.h"
#include "sketch/replay.h"
#include "sketch/workload.h"

namespace tilewright::bench {
namespace {

constexpr char kGemm[] = R"(A: f32[128, 96] = placeholder
B: f32[96, 256] = placeholder
T: f32[128, 256] = compute (m: 128, n: 256) reduce (k: 96) sum:f32 { A[m, k] * B[k, n] }
return T
)";

TEST(MutateDecisionsTest, ManyDifferentOnesReplay) {
  TW_ASSERT_OK_AND_ASSIGN(const sketch::Workload workload,
                          sketch::ParseWorkload(kGemm));
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("cpu_x86_64_v4"));
  TW_ASSERT_OK_AND_ASSIGN(const sketch::Schedule schedule,
                          sketch::DefaultSchedule(workload, spec));
  Random random(1);
  std::set<std::string> replayed;
  for (int i = 0; i < 200; ++i) {
    const sketch::Schedule mutated = MutateDecisions(schedule, random);
    EXPECT_EQ(mutated.instructions.size(), schedule.instructions.size());
    if (sketch::Replay(workload, mutated).ok()) {
      replayed.insert(mutated.ToString());
    }
  }
  EXPECT_GT(replayed.size(), 50);
}

}  // namespace
}  // namespace tilewright::bench
