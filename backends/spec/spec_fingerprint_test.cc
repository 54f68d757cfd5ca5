#include "backends/spec/spec_fingerprint.h"

#include "backends/spec/load_spec.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

TEST(SpecFingerprintTest, MeasuredFiguresDoNotChangeTheStructure) {
  const DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  DeviceSpec measured = spec;
  measured.set_name("another");
  measured.mutable_levels(0)->set_read_bytes_per_s(1);
  measured.mutable_unit()->mutable_peaks(0)->set_core_ops_per_s(1);
  measured.mutable_unit()->set_launch_ns(1);
  EXPECT_EQ(StructureFingerprint(spec), StructureFingerprint(measured));
  EXPECT_NE(FullFingerprint(spec), FullFingerprint(measured));
}

TEST(SpecFingerprintTest, CapacitiesUnitsFeaturesAndTargetDo) {
  const DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  void (*const changes[])(DeviceSpec&) = {
      [](DeviceSpec& s) { s.mutable_levels(0)->set_capacity_bytes(12345); },
      [](DeviceSpec& s) { s.mutable_unit()->set_vector_bytes(16); },
      [](DeviceSpec& s) { s.add_features("zzz"); },
      [](DeviceSpec& s) { s.set_target("cpu:x86-64-v3"); },
  };
  for (const auto& change : changes) {
    DeviceSpec changed = spec;
    change(changed);
    EXPECT_NE(StructureFingerprint(spec), StructureFingerprint(changed));
  }
}

}  // namespace
}  // namespace tilewright
