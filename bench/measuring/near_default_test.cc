#include "bench/measuring/near_default.h"

#include <set>
#include <string>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/trace/workload.h"

namespace tilewright::bench {
namespace {

constexpr char kGemm[] = R"(A: f32[128, 96] = placeholder
B: f32[96, 256] = placeholder
T: f32[128, 256] = compute (m: 128, n: 256) reduce (k: 96) sum:f32 { A[m, k] * B[k, n] }
return T
)";

TEST(NearDefaultTest, ManyDifferentOnesReplay) {
  TW_ASSERT_OK_AND_ASSIGN(const sketch::Workload workload,
                          sketch::ParseWorkload(kGemm));
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("cpu_x86_64_v4"));
  Random random(1);
  std::set<std::string> replayed;
  for (int i = 0; i < 200; ++i) {
    const absl::StatusOr<sketch::Schedule> near =
        NearDefault(workload, spec, random);
    if (near.ok() && sketch::Replay(workload, *near).ok())
      replayed.insert(near->ToString());
  }
  EXPECT_GT(replayed.size(), 50);
}

}  // namespace
}  // namespace tilewright::bench
