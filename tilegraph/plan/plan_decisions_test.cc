#include "tilegraph/plan/plan_decisions.h"

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/decision/table.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

TEST(PlanDecisionsTest, TheChannelBlockIsOfShortVectorsOneOfLongOnesAsItWas) {
  const std::pair<const char*, int> cases[] = {{"cpu:x86-64-v2", 8},
                                               {"cpu:x86-64-v3", 8},
                                               {"cpu:x86-64-v4", 16},
                                               {"cpu:x86-64-v4-vnni", 16},
                                               {"cpu:x86-64-v4-bf16", 16}};
  for (const auto& [target, block] : cases) {
    TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec(target));
    PreferredPolicy preferred;
    Decider decider(preferred);
    EXPECT_EQ(DecidePlan({}, spec, decider).channel_block, block) << target;
  }
}

TEST(PlanDecisionsTest, EveryBlockCanBeAskedForAndMayChangeBits) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("cpu:x86-64-v3"));
  std::vector<int> blocks;
  EnumeratingPolicy all;
  do {
    Decider decider(all);
    blocks.push_back(*DecidePlan({}, spec, decider).channel_block);
    ASSERT_EQ(decider.decisions().size(), 1);
    EXPECT_EQ(decider.decisions()[0].name, "channel.block");
    EXPECT_EQ(decider.decisions()[0].bits, Bits::kMayChange);
  } while (all.Next());
  EXPECT_THAT(blocks, ElementsAre(8, 16));
}

TEST(PlanDecisionsTest, WhatIsFixedIsNotAskedFor) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("cpu:x86-64-v3"));
  PreferredPolicy preferred;
  Decider decider(preferred);
  PlanOptions plain;
  plain.channel_block = 0;
  EXPECT_EQ(DecidePlan(plain, spec, decider).channel_block, 0);
  EXPECT_TRUE(decider.decisions().empty());
}

}  // namespace
}  // namespace tilewright
