#include "bench/compare/compare_flags.h"

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

using ::testing::ElementsAre;

TEST(CompareFlagsTest, PathsAreRelativeToTheUser) {
  TW_ASSERT_OK_AND_ASSIGN(
      const CompareFlags flags,
      ParseCompareFlags({"a", "/b", "--ort=lib", "--threads=1,4",
                         "--seconds=0.5", "--verify"},
                        nullptr, "/home"));
  EXPECT_THAT(flags.folders, ElementsAre("/home/a", "/b"));
  EXPECT_EQ(flags.ort, "/home/lib");
  EXPECT_THAT(flags.threads, ElementsAre(1, 4));
  EXPECT_EQ(flags.seconds, 0.5);
  EXPECT_TRUE(flags.verify);
  EXPECT_FALSE(flags.json);
}

TEST(CompareFlagsTest, ThePeerComesFromTheEnvironmentUnlessGiven) {
  TW_ASSERT_OK_AND_ASSIGN(const CompareFlags from_environment,
                          ParseCompareFlags({"a"}, "/x.so", nullptr));
  EXPECT_EQ(from_environment.ort, "/x.so");
  TW_ASSERT_OK_AND_ASSIGN(
      const CompareFlags given,
      ParseCompareFlags({"a", "--ort=/y.so"}, "/x.so", nullptr));
  EXPECT_EQ(given.ort, "/y.so");
}

TEST(CompareFlagsTest, DefaultsAreThoseOfTheCompilerAndEqualMemory) {
  TW_ASSERT_OK_AND_ASSIGN(const CompareFlags flags,
                          ParseCompareFlags({"a"}, nullptr, nullptr));
  EXPECT_EQ(flags.connect, PlanOptions::Connect::kTileGraph);
  EXPECT_TRUE(flags.allow.empty());
  EXPECT_EQ(flags.huge_pages, HugePages::kNone);
  EXPECT_GE(flags.seconds, 3);
  EXPECT_THAT(flags.threads, ElementsAre(1, 2));
}

TEST(CompareFlagsTest, WhatIsAllowedIsAList) {
  TW_ASSERT_OK_AND_ASSIGN(
      const CompareFlags flags,
      ParseCompareFlags({"a", "--allow=winograd4,bf16", "--huge-pages=own"},
                        nullptr, nullptr));
  EXPECT_THAT(flags.allow, ElementsAre("winograd4", "bf16"));
  EXPECT_EQ(flags.huge_pages, HugePages::kOwn);
}

TEST(CompareFlagsTest, TheTargetIsTheHostUnlessGiven) {
  TW_ASSERT_OK_AND_ASSIGN(const CompareFlags host,
                          ParseCompareFlags({"a"}, nullptr, nullptr));
  EXPECT_FALSE(host.target.limits());
  EXPECT_EQ(host.target.vector_bytes, 64);
  TW_ASSERT_OK_AND_ASSIGN(
      const CompareFlags limited,
      ParseCompareFlags({"a", "--target=x86-64-v3"}, nullptr, nullptr));
  EXPECT_EQ(limited.target.name, "x86-64-v3");
  EXPECT_EQ(limited.target.vector_bytes, 32);
  EXPECT_THAT(ParseCompareFlags({"a", "--target=v9"}, nullptr, nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--target=v9: give x86-64-v2, x86-64-v3 or x86-64-v4"));
}

TEST(CompareFlagsTest, MistakesAreNamed) {
  EXPECT_THAT(ParseCompareFlags({"a", "--allow=fast"}, nullptr, nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "expected winograd4 or bf16"));
  EXPECT_THAT(
      ParseCompareFlags({"a", "--huge-pages=some"}, nullptr, nullptr),
      StatusIs(absl::StatusCode::kInvalidArgument, "give both, none or own"));
  EXPECT_THAT(ParseCompareFlags({}, nullptr, nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument, "no folder"));
  EXPECT_THAT(ParseCompareFlags({"a", "--thread=2"}, nullptr, nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "no flag --thread=2; did you mean '--threads'?"));
  EXPECT_THAT(ParseCompareFlags({"a", "--threads=0"}, nullptr, nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--threads=0: expected 1 or more"));
  EXPECT_THAT(ParseCompareFlags({"a", "--seconds=soon"}, nullptr, nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--seconds=soon: not a number"));
}

}  // namespace
}  // namespace tilewright::bench
