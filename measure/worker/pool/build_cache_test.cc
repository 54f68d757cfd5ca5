#include "measure/worker/pool/build_cache.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

WorkloadKey Workload(const std::string& text) {
  WorkloadKey key;
  key.set_text(text);
  return key;
}

sketch::ScheduleProto Schedule(int i) {
  sketch::ScheduleProto schedule;
  schedule.add_decisions()->set_value(absl::StrCat(i));
  return schedule;
}

TEST(BuildCacheTest, TheSameCandidateIsTheSameBuild) {
  BuildCache cache(1 << 20);
  const auto build = cache.Get(Workload("w"), Schedule(1));
  EXPECT_EQ(build->workload, "w");
  EXPECT_EQ(build->schedule.decisions(0).value(), "1");
  EXPECT_EQ(cache.Get(Workload("w"), Schedule(1)), build);
  EXPECT_NE(cache.Get(Workload("w"), Schedule(2)), build);
  EXPECT_NE(cache.Get(Workload("v"), Schedule(1)), build);
}

TEST(BuildCacheTest, TheOnesUsedLongestAgoAreForgotten) {
  BuildCache cache(2500);
  std::shared_ptr<Build> builds[3];
  for (int i = 0; i < 3; ++i) {
    builds[i] = cache.Get(Workload("w"), Schedule(i));
    builds[i]->built.set_module(std::string(1000, 'm'));
    if (i == 2) (void)cache.Get(Workload("w"), Schedule(0));
    cache.Grown(*builds[i]);
  }
  EXPECT_EQ(cache.Get(Workload("w"), Schedule(0)), builds[0]);
  EXPECT_EQ(cache.Get(Workload("w"), Schedule(2)), builds[2]);
  EXPECT_NE(cache.Get(Workload("w"), Schedule(1)), builds[1]);
  builds[1]->built.set_module(std::string(5000, 'm'));
  cache.Grown(*builds[1]);  // is no longer known: nothing happens
  EXPECT_EQ(cache.Get(Workload("w"), Schedule(0)), builds[0]);
}

}  // namespace
}  // namespace tilewright::measure
