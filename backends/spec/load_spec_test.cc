#include "backends/spec/load_spec.h"

#include <cstdlib>
#include <fstream>
#include <string>

#include "backends/spec/device_spec.pb.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LoadSpecTest, EveryCommittedSpecLoadsUnderItsFileName) {
  EXPECT_THAT(BuiltinSpecNames(),
              ElementsAre("a100", "cpu_emerald_rapids", "cpu_x86_64_v2",
                          "cpu_x86_64_v3", "cpu_x86_64_v4", "cpu_x86_64_v4_amx",
                          "cpu_x86_64_v4_bf16", "cpu_x86_64_v4_vnni",
                          "cpu_zen5", "h100", "h200", "ipu_mk2", "mi210",
                          "mi300x", "mi50", "t4", "unit", "v100"));
  for (const std::string& name : BuiltinSpecNames()) {
    TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec(name));
    EXPECT_EQ(spec.name(), name);
  }
}

TEST(LoadSpecTest, ATargetNamesItsFirstSpec) {
  EXPECT_EQ(LoadSpec("cuda:sm_70")->name(), "v100");
  EXPECT_EQ(LoadSpec("cuda:sm_90a")->name(), "h100");
  EXPECT_EQ(LoadSpec("hip:gfx942")->name(), "mi300x");
  EXPECT_EQ(LoadSpec("hip:gfx906")->name(), "mi50");
  EXPECT_EQ(LoadSpec("cuda:sm_12").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(LoadSpecTest, ASpecTakesTheCostModelOfAnotherAndSaysSo) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec of, LoadSpec("cpu_x86_64_v4_bf16"));
  TW_ASSERT_OK_AND_ASSIGN(DeviceSpec spec, LoadSpec("cpu_x86_64_v2"));
  EXPECT_EQ(spec.cost_model_of(), "");
  ASSERT_EQ(spec.cost_model().sources_size(), 1);
  EXPECT_EQ(spec.cost_model().sources(0).kind(), Source::DERIVED);
  EXPECT_EQ(spec.cost_model().sources(0).detail(),
            "that of cpu_x86_64_v4_bf16");
  CostModel taken = spec.cost_model(), given = of.cost_model();
  taken.clear_sources();
  given.clear_sources();
  EXPECT_EQ(taken.SerializeAsString(), given.SerializeAsString());

  // But for numbers of its own.
  spec.clear_cost_model();
  spec.set_cost_model_of("cpu_x86_64_v4_bf16");
  CostModel& own = *spec.mutable_cost_model();
  own.set_task_ns(7);
  own.add_sources()->add_fields("task_ns");
  own.mutable_sources(0)->set_kind(Source::FITTED);
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec loaded,
                          ParseSpec(SpecText(spec), "a file"));
  EXPECT_EQ(loaded.cost_model().task_ns(), 7);
  EXPECT_EQ(loaded.cost_model().block_ns(), of.cost_model().block_ns());

  for (const char* name : {"cpu_x86_64_v2", "a_b_c"}) {
    spec.set_cost_model_of(name);
    EXPECT_THAT(ParseSpec(SpecText(spec), "a file"),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("no committed spec with a cost model")));
  }
}

// Data sheets speak of the whole device: cores times what the spec says of one.
TEST(LoadSpecTest, SpecsOfGpusAddUpToTheirDataSheets) {
  const struct {
    const char* name;
    double f32, f16_matrix, memory;  // 1e12 a second
  } kSheets[] = {
      {"v100", 15.7, 125, 0.9},   {"t4", 8.1, 65, 0.32},
      {"a100", 19.5, 312, 1.555}, {"h100", 66.9, 989.4, 3.352},
      {"h200", 66.9, 989.4, 4.8}, {"mi210", 22.6, 181, 1.6384},
      {"mi50", 13.4, 0, 1.024},   {"mi300x", 163.4, 1307.4, 5.3},
  };
  for (const auto& sheet : kSheets) {
    TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec(sheet.name));
    const double cores = static_cast<double>(spec.unit().cores()) * 1e-12;
    EXPECT_NEAR(cores * CorePeak(spec, "f32", PeakRate::VECTOR), sheet.f32,
                1e-3 * sheet.f32);
    EXPECT_NEAR(cores * CorePeak(spec, "f16", PeakRate::MATRIX),
                sheet.f16_matrix, 1e-3 * sheet.f16_matrix);
    EXPECT_NEAR(FindLevel(spec, "dram")->aggregate_read_bytes_per_s() * 1e-12,
                sheet.memory, 1e-3 * sheet.memory);
    EXPECT_EQ(spec.unit().registers_per_core() %
                  spec.unit().register_allocation_unit(),
              0);
    for (const MatrixUnit& unit : spec.unit().matrix_units())
      EXPECT_GT(CorePeak(spec, unit.operand_dtype(), PeakRate::MATRIX), 0)
          << sheet.name << " " << unit.name();
  }
}

// Compares with Graphcore's figures of the whole GC200.
TEST(LoadSpecTest, TheSpecOfTheIpuAddsUpToItsDataSheet) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("ipu_mk2"));
  const double cores = static_cast<double>(spec.unit().cores()) * 1e-12;
  EXPECT_NEAR(cores * CorePeak(spec, "f16", PeakRate::MATRIX), 250, 0.1);
  EXPECT_NEAR(cores * CorePeak(spec, "f32", PeakRate::MATRIX), 62.5, 0.1);
  const MemoryLevel& tiles = *FindLevel(spec, "shared");
  EXPECT_EQ(tiles.instances() * tiles.capacity_bytes(), 1472 * 624 * 1024);
  EXPECT_NEAR(tiles.read_bytes_per_s() * cores, 47.5, 0.01);
  for (const MemoryLevel& level : spec.levels())
    EXPECT_NE(level.kind(), MemoryLevel::CACHE);
}

TEST(LoadSpecTest, AFileLoadsAsItsTextWasPrinted) {
  TW_ASSERT_OK_AND_ASSIGN(DeviceSpec spec, LoadSpec("unit"));
  spec.set_name("mine");
  const std::string path =
      std::string(std::getenv("TEST_TMPDIR")) + "/mine.textproto";
  std::ofstream(path) << SpecText(spec);
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec loaded, LoadSpec(path));
  EXPECT_EQ(SpecText(loaded), SpecText(spec));
}

TEST(LoadSpecTest, AnUnknownNameListsTheCommittedOnes) {
  EXPECT_THAT(LoadSpec("v1000"), StatusIs(absl::StatusCode::kNotFound,
                                          HasSubstr("cpu_x86_64_v4_amx")));
}

TEST(LoadSpecTest, ATypingErrorIsReportedWithItsLine) {
  EXPECT_THAT(ParseSpec("name: 'x'\nlevel {}\n", "f.textproto"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("f.textproto:2:")));
}

// `edit` breaks the spec `name`; ValidateSpec must say `message`.
template <typename Edit>
void ExpectInvalid(Edit edit, const std::string& message,
                   const char* name = "unit") {
  TW_ASSERT_OK_AND_ASSIGN(DeviceSpec spec, LoadSpec(name));
  edit(spec);
  EXPECT_THAT(ValidateSpec(spec),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
}

template <typename Edit>
void ExpectInvalidCpu(Edit edit, const std::string& message) {
  ExpectInvalid(edit, message, "cpu_x86_64_v3");
}

TEST(ValidateSpecTest, RefusesWhatIsMissingOrContradicts) {
  ExpectInvalid([](DeviceSpec& s) { s.clear_name(); }, "no name");
  ExpectInvalid([](DeviceSpec& s) { s.clear_target(); }, "no target");
  ExpectInvalid([](DeviceSpec& s) { s.clear_levels(); }, "levels must begin");
  ExpectInvalid([](DeviceSpec& s) { s.mutable_levels(1)->set_name("l1"); },
                "must be set and differ");
  ExpectInvalid([](DeviceSpec& s) { s.mutable_levels(1)->clear_kind(); },
                "needs kind and scope");
  ExpectInvalid([](DeviceSpec& s) { s.mutable_unit()->set_cores(0); },
                "unit.cores");
  ExpectInvalid(
      [](DeviceSpec& s) {
        s.add_features("b");
        s.add_features("a");
      },
      "sorted");
  ExpectInvalid([](DeviceSpec& s) { s.mutable_levels(1)->set_latency_ns(-1); },
                "levels[1].latency_ns is negative");
}

TEST(ValidateSpecTest, EveryNumberNeedsASource) {
  ExpectInvalid([](DeviceSpec& s) { s.mutable_levels(1)->set_banks(32); },
                "levels[1].banks has no source");
  ExpectInvalid(
      [](DeviceSpec& s) {
        s.mutable_unit()->mutable_peaks(0)->clear_sources();
      },
      "unit.peaks[0].core_ops_per_s has no source");
  ExpectInvalid(
      [](DeviceSpec& s) {
        s.mutable_levels(0)->mutable_sources(0)->add_fields("speed");
      },
      "'speed', which is no field");
}

TEST(ValidateSpecTest, ACpuNeedsACostModelWhoseNumbersHaveSources) {
  ExpectInvalidCpu([](DeviceSpec& s) { s.clear_cost_model(); },
                   "a spec of a CPU needs a cost model");
  ExpectInvalidCpu(
      [](DeviceSpec& s) { s.mutable_cost_model()->clear_row_peak_share(); },
      "cost_model.row_peak_share must be more than 0");
  ExpectInvalidCpu([](DeviceSpec& s) { s.mutable_cost_model()->set_row_ns(2); },
                   "cost_model.row_ns has no source");
  // GPUs are planned by another model, which knows one of these numbers.
  EXPECT_EQ(LoadSpec("a100")->cost_model().row_peak_share(), 0);
}

TEST(LoadSpecTest, LevelsAndPeaksAreFoundByName) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("unit"));
  ASSERT_NE(FindLevel(spec, "l2"), nullptr);
  EXPECT_EQ(FindLevel(spec, "l2")->capacity_bytes(), 100000);
  EXPECT_EQ(FindLevel(spec, "l9"), nullptr);
  EXPECT_EQ(CorePeak(spec, "f32", PeakRate::VECTOR), 100e9);
  EXPECT_EQ(CorePeak(spec, "f32", PeakRate::MATRIX), 0);
}

}  // namespace
}  // namespace tilewright
