#include "tools/host/measured_spec.h"

#include <string>

#include "backends/spec/load_spec.h"
#include "backends/spec/spec_fingerprint.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::tools {
namespace {

using ::testing::HasSubstr;

// Levels: 0 dram, 1 l3 of 22 MiB shared by 4, 2 l2 of 1 MiB, 3 l1 of 32 KiB, 4
// registers.
DeviceSpec Structure() {
  auto spec = LoadSpec("cpu_x86_64_v4");
  TW_EXPECT_OK(spec);
  return *spec;
}

HostFacts SomeFacts() {
  HostFacts facts;
  facts.command = "tilewright_bench --spec-out=x";
  facts.date = "2026-11-21";
  facts.threads = 4;
  facts.bandwidths = {
      {"read", 1, 16 << 10, 200.4e9},   {"read", 1, 8 << 10, 150e9},
      {"read", 1, 32 << 10, 999e9},  // fills L1: neither
      {"write", 1, 16 << 10, 100e9},    {"read", 4, 64 << 10, 800e9},
      {"read", 1, 256 << 10, 90e9},     {"read", 1, 8 << 20, 30e9},
      {"read", 1, 20 << 20, 999e9},  // nearly fills L3
      {"read", 1, 128 << 20, 12.345e9}, {"copy", 1, 16 << 10, 999e9}};
  facts.latencies = {{8 << 10, 1.1},
                     {16 << 10, 1.3},
                     {20 << 10, 1.2},
                     {256 << 10, 4},
                     {128 << 20, 123.4}};
  facts.retentions = {{1e6, 1}, {2e6, 0.8}, {4e6, 0.3}, {8e6, 0.6}};
  facts.peaks = {{"f32", "AVX-512", 1, 120e9},
                 {"f32", "AVX-512", 4, 470e9},
                 {"bf16", "AVX512-BF16", 1, 240e9}};
  facts.costs = {{"launch", "", 812.34}, {"barrier", "", 0}};
  return facts;
}

TEST(MeasuredSpecTest, WorkingSetsKeepAwayFromTheEdgesOfCaches) {
  const DeviceSpec spec = Structure();
  const WorkingSets l1 = WorkingSetsOf(spec, 3, 1);
  EXPECT_EQ(l1.from_bytes, 0);
  EXPECT_EQ(l1.to_bytes, 24 << 10);
  const WorkingSets l2 = WorkingSetsOf(spec, 2, 1);
  EXPECT_EQ(l2.from_bytes, 48 << 10);
  EXPECT_EQ(l2.to_bytes, 768 << 10);
  // Four threads have four of each private cache, and one that they share.
  EXPECT_EQ(WorkingSetsOf(spec, 2, 4).to_bytes, 3 << 20);
  EXPECT_EQ(WorkingSetsOf(spec, 1, 4).from_bytes, 6 << 20);
  EXPECT_EQ(WorkingSetsOf(spec, 1, 4).to_bytes, 22 * 3 << 18);
  EXPECT_EQ(WorkingSetsOf(spec, 0, 1).from_bytes, 66 << 20);
}

TEST(MeasuredSpecTest, FillsInWhatWasMeasured) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec,
                          MeasuredSpec(Structure(), SomeFacts()));
  const MemoryLevel& l1 = spec.levels(3);
  EXPECT_EQ(l1.read_bytes_per_s(), 200e9);
  EXPECT_EQ(l1.write_bytes_per_s(), 100e9);
  EXPECT_EQ(l1.aggregate_read_bytes_per_s(), 800e9);
  EXPECT_EQ(l1.latency_ns(), 1.2);
  EXPECT_EQ(spec.levels(2).read_bytes_per_s(), 90e9);
  EXPECT_EQ(spec.levels(2).latency_ns(), 4);
  EXPECT_EQ(spec.levels(1).read_bytes_per_s(), 30e9);
  EXPECT_EQ(spec.levels(1).retention_ns(), 3.2e6);
  EXPECT_EQ(spec.levels(2).retention_ns(), 0);
  EXPECT_EQ(spec.levels(0).read_bytes_per_s(), 12.3e9);
  EXPECT_EQ(spec.levels(0).latency_ns(), 123);
  EXPECT_EQ(CorePeak(spec, "f32", PeakRate::VECTOR), 120e9);
  // The class has no such units: another structure would lose its records.
  EXPECT_EQ(CorePeak(spec, "bf16", PeakRate::VECTOR), 0);
  EXPECT_EQ(spec.unit().launch_ns(), 812);
}

TEST(MeasuredSpecTest, LeavesTheRestAsItWas) {
  const DeviceSpec before = Structure();
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec,
                          MeasuredSpec(before, SomeFacts()));
  EXPECT_EQ(spec.levels(1).latency_ns(), before.levels(1).latency_ns());
  EXPECT_EQ(spec.levels(2).write_bytes_per_s(),
            before.levels(2).write_bytes_per_s());
  EXPECT_EQ(spec.unit().barrier_ns(), before.unit().barrier_ns());
  EXPECT_EQ(StructureFingerprint(spec), StructureFingerprint(before));
  EXPECT_NE(SpecText(spec), SpecText(before));
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec same, MeasuredSpec(before, {}));
  EXPECT_EQ(SpecText(same), SpecText(before));
}

TEST(MeasuredSpecTest, EveryFigureNamesCommandAndDate) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec,
                          MeasuredSpec(Structure(), SomeFacts()));
  const std::string text = SpecText(spec);
  // It is read back as --spec reads it.
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec back, ParseSpec(text, "spec"));
  EXPECT_EQ(SpecText(back), text);
  int measured = 0;
  for (const MemoryLevel& level : spec.levels()) {
    for (const Source& source : level.sources()) {
      if (source.detail() != "tilewright_bench --spec-out=x, 2026-11-21")
        continue;
      EXPECT_EQ(source.kind(), Source::MEASURED);
      measured += source.fields_size();
    }
  }
  EXPECT_EQ(measured, 4 + 2 + 2 + 2);
}

}  // namespace
}  // namespace tilewright::tools
