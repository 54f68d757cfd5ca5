// The schedule that a generator prefers replays, for groups of every family.
// Only some fused groups have none: tasks of the wished tiles would compute
// elements of an output twice; or, seldom, a register tile ends neither where
// its task does nor where the output does.
//
// TILEWRIGHT_RANDOM_CASES sets the number of groups (3000 by default),
// TILEWRIGHT_RANDOM_SEED the first seed.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/generator.h"
#include "sketch/testing/sample_groups.h"
#include "sketch/trace/schedule.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::sketch {
namespace {

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

TEST(PreferredSchedulesTest, Replay) {
  const int64_t cases = FromEnvironment("TILEWRIGHT_RANDOM_CASES", 3000),
                first = FromEnvironment("TILEWRIGHT_RANDOM_SEED", 0);
  int64_t fused = 0, overlapping = 0, ragged = 0;
  for (int64_t seed = first; seed < first + cases; ++seed) {
    const SampleGroup group = DrawSampleGroup(static_cast<uint64_t>(seed));
    fused += group.generator.name == "fused";
    const absl::StatusOr<Schedule> schedule =
        GeneratePreferred(group.generator, group.workload, group.spec);
    const absl::Status status = schedule.ok()
                                    ? Replay(group.workload, *schedule).status()
                                    : schedule.status();
    if (status.ok()) continue;
    if (group.workload.graph.outputs().size() > 1 &&
        absl::StrContains(status.message(), "exactly once per element")) {
      ++overlapping;
      continue;
    }
    if (group.generator.name == "fused" &&
        absl::StrContains(status.message(), "does not run over a dense part")) {
      ++ragged;
      continue;
    }
    ADD_FAILURE() << "seed " << seed << ", " << group.source << " on "
                  << group.spec.name() << ": " << status << "\n"
                  << group.workload.Text()
                  << (schedule.ok() ? schedule->ToString() : "");
  }
  std::printf("%lld fused, of %lld of them tiles overlap, of %lld end within\n",
              static_cast<long long>(fused),
              static_cast<long long>(overlapping),
              static_cast<long long>(ragged));
  if (cases < 3000) return;
  EXPECT_LT(overlapping * 8, fused);
  EXPECT_LT(ragged * 200, fused);
}

}  // namespace
}  // namespace tilewright::sketch
