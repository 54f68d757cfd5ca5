#include "backends/spec/host_spec.h"

#include <algorithm>
#include <string>
#include <vector>

#include "backends/spec/cpu_features.h"
#include "backends/spec/device_spec.pb.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

TEST(CpuFeaturesTest, CommittedSpecsNameTheFeaturesOfTheirClass) {
  for (const std::string& cpu_class : CpuClasses()) {
    std::string name = "cpu_" + cpu_class;
    std::replace(name.begin(), name.end(), '-', '_');
    TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec(name));
    TW_ASSERT_OK_AND_ASSIGN(const std::vector<std::string> features,
                            CpuClassFeatures(cpu_class));
    EXPECT_EQ(std::vector<std::string>(spec.features().begin(),
                                       spec.features().end()),
              features);
    EXPECT_EQ(spec.target(), "cpu:" + cpu_class);
  }
}

TEST(CpuFeaturesTest, MissingFeaturesAreNamed) {
  TW_ASSERT_OK_AND_ASSIGN(std::vector<std::string> v4,
                          CpuClassFeatures("x86-64-v4"));
  EXPECT_THAT(
      MissingCpuFeatures("x86-64-v4-amx", v4),
      IsOkAndHolds(ElementsAre("amx-bf16", "amx-int8", "amx-tile", "avx512bf16",
                               "avx512vbmi", "avx512vnni")));
  EXPECT_THAT(MissingCpuFeatures("x86-64-v3", v4), IsOkAndHolds(ElementsAre()));
  EXPECT_THAT(MissingCpuFeatures("rocketlake", v4),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("x86-64-v2, x86-64-v3")));
}

TEST(CpuFeaturesTest, TheBestClassIsTheLargestComplete) {
  TW_ASSERT_OK_AND_ASSIGN(std::vector<std::string> features,
                          CpuClassFeatures("x86-64-v4"));
  EXPECT_THAT(BestCpuClass(features), IsOkAndHolds("x86-64-v4"));
  features.erase(std::find(features.begin(), features.end(), "avx512vl"));
  EXPECT_THAT(BestCpuClass(features), IsOkAndHolds("x86-64-v3"));
  EXPECT_THAT(BestCpuClass({"sse3"}),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("popcnt")));
}

TEST(HostSpecTest, StructureReplacesCachesAndCores) {
  HostStructure host;
  host.cores = 8;
  host.caches = {{1, 49152, 64, 2}, {2, 1310720, 64, 2}, {3, 25165824, 64, 16}};
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, CpuSpec("x86-64-v4", host));
  EXPECT_EQ(spec.name(), "cpu");
  EXPECT_EQ(spec.unit().cores(), 8);
  const MemoryLevel* l1 = FindLevel(spec, "l1");
  ASSERT_NE(l1, nullptr);
  EXPECT_EQ(l1->capacity_bytes(), 49152);
  EXPECT_EQ(l1->instances(), 4);
  EXPECT_EQ(FindLevel(spec, "l3")->capacity_bytes(), 25165824);
  EXPECT_EQ(FindLevel(spec, "l3")->cores_sharing(), 8);
  EXPECT_EQ(spec.unit().vector_bytes(), 64);
}

TEST(HostSpecTest, AFamilyThatWasMeasuredTakesItsOwnFigures) {
  HostStructure host;
  host.cores = 4;
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec of_class,
                          CpuSpec("x86-64-v4-bf16", host));
  host.family = "AuthenticAMD 26";
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec of_family,
                          CpuSpec("x86-64-v4-bf16", host));
  // The core of a Zen 5 has twice the vector units of a Zen 4's.
  EXPECT_GT(CorePeak(of_family, "f32", PeakRate::VECTOR),
            1.5 * CorePeak(of_class, "f32", PeakRate::VECTOR));
  EXPECT_EQ(of_family.name(), "cpu");
  EXPECT_EQ(of_family.target(), of_class.target());
  EXPECT_EQ(of_family.unit().cores(), 4);
  // Kernels may use the same instructions.
  EXPECT_THAT(of_family.features(), ElementsAreArray(of_class.features()));
  // Behind a mesh the last cache is slower than a Zen 4's.
  host.family = "GenuineIntel 6 207";
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec of_model,
                          CpuSpec("x86-64-v4-bf16", host));
  EXPECT_LT(FindLevel(of_model, "l3")->read_bytes_per_s(),
            0.5 * FindLevel(of_class, "l3")->read_bytes_per_s());
  // Where no such host was measured, and by its target, the class counts.
  host.family = "AuthenticAMD 23";
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec of_another,
                          CpuSpec("x86-64-v4-bf16", host));
  EXPECT_EQ(SpecText(of_another), SpecText(of_class));
  EXPECT_THAT(LoadSpec("cpu:x86-64-v4-bf16")->name(), "cpu_x86_64_v4_bf16");
}

TEST(HostSpecTest, OneCoreHasNoMoreBandwidthThanItsOwn) {
  HostStructure host;
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, CpuSpec("x86-64-v3", host));
  for (const MemoryLevel& level : spec.levels()) {
    if (level.kind() == MemoryLevel::REGISTER) continue;
    EXPECT_LE(level.aggregate_read_bytes_per_s(), level.read_bytes_per_s())
        << level.name();
  }
}

TEST(HostSpecTest, TheHostIsDescribedTheSameEveryTime) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec a, HostSpec());
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec b, HostSpec());
  EXPECT_EQ(SpecText(a), SpecText(b));
  const HostStructure host = QueryHostStructure();
  EXPECT_GE(host.cores, 1);
  ASSERT_FALSE(host.caches.empty());
  for (const CacheInfo& cache : host.caches) {
    EXPECT_GE(cache.capacity_bytes, 4096);
    EXPECT_GE(cache.line_bytes, 16);
  }
}

}  // namespace
}  // namespace tilewright
