#include "backends/spec/spec_fingerprint.h"

#include "backends/spec/device_spec.pb.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

class SpecFingerprintTest : public testing::Test {
 protected:
  void SetUp() override {
    TW_ASSERT_OK_AND_ASSIGN(spec_, LoadSpec("cpu_x86_64_v4_amx"));
    structure_ = StructureFingerprint(spec_);
  }
  DeviceSpec spec_;
  Fingerprint structure_;
};

TEST_F(SpecFingerprintTest, MeasuredFiguresAreNoPartOfIt) {
  spec_.mutable_levels(1)->set_read_bytes_per_s(1);
  spec_.mutable_levels(1)->set_retention_ns(1);
  spec_.mutable_unit()->mutable_peaks(0)->set_core_ops_per_s(1);
  spec_.mutable_unit()->set_launch_ns(1);
  spec_.mutable_cost_model()->set_task_ns(1);
  spec_.set_name("another");
  EXPECT_EQ(StructureFingerprint(spec_), structure_);
}

TEST_F(SpecFingerprintTest, StructureChangesIt) {
  const auto expect_changed = [&](auto edit) {
    DeviceSpec changed = spec_;
    edit(changed);
    EXPECT_NE(StructureFingerprint(changed), structure_);
  };
  expect_changed([](DeviceSpec& s) { s.set_target("cpu:x86-64-v4"); });
  expect_changed([](DeviceSpec& s) { s.mutable_unit()->set_cores(5); });
  expect_changed([](DeviceSpec& s) { s.mutable_unit()->clear_fma(); });
  expect_changed(
      [](DeviceSpec& s) { s.mutable_levels(2)->set_capacity_bytes(1); });
  expect_changed([](DeviceSpec& s) { s.mutable_features()->RemoveLast(); });
  expect_changed([](DeviceSpec& s) {
    s.mutable_unit()->mutable_matrix_units(0)->set_k(1);
  });
}

TEST_F(SpecFingerprintTest, SourcesAreNoPartOfAMachine) {
  spec_.mutable_levels(0)->mutable_sources(0)->set_detail("elsewhere");
  EXPECT_EQ(StructureFingerprint(spec_), structure_);
}

// Records hold these: a change makes all of them foreign.
TEST_F(SpecFingerprintTest, TheFingerprintOfTheUnitSpecIsForEver) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec unit, LoadSpec("unit"));
  EXPECT_EQ(StructureFingerprint(unit).ToString(),
            "378b634b41c77466593e673a9d2d00fb");
}

}  // namespace
}  // namespace tilewright
